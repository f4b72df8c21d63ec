// Package raster draws the pictures of a report as PNG, without cgo and without
// another program.
//
//  1. PNG reads one SVG file of render's: that file is the one description of a
//     picture, so that both show the same.
//  2. A sheet gives each element its look, from the file's own style sheet.
//  3. Paths, strokes and the outlines of letters become polygons.
//  4. A canvas fills them.
//
// It knows the elements, the units and the selectors that render writes, and says so
// where it meets another: it is no SVG reader for files from elsewhere.
package raster

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/png"
	"strconv"
	"strings"

	"golang.org/x/image/font/sfnt"
)

// PNG draws an SVG file of render's, scale pixels to a unit of its view box.
func PNG(svg string, scale float64) ([]byte, error) {
	var root element
	if err := xml.Unmarshal([]byte(svg), &root); err != nil {
		return nil, fmt.Errorf("draw PNG: %w", err)
	}
	d := drawing{patterns: map[string]element{}}
	var err error
	if d.canvas, err = newCanvas(root.number("width"), root.number("height"), scale); err != nil {
		return nil, fmt.Errorf("draw PNG: %w", err)
	}
	if err := d.all(root.Children); err != nil {
		return nil, fmt.Errorf("draw PNG: %w", err)
	}
	var b bytes.Buffer
	err = png.Encode(&b, d.canvas.img)
	return b.Bytes(), err
}

// element is one of the SVG file's.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Children []element  `xml:",any"`
	Text     string     `xml:",chardata"`
}

func (e element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// number is an attribute's; 0 where it is none.
func (e element) number(name string) float64 {
	v, _ := strconv.ParseFloat(e.attr(name), 64)
	return within(v)
}

// drawing is a picture under way.
type drawing struct {
	canvas   *canvas
	sheet    sheet
	patterns map[string]element
	font     *sfnt.Font
}

func (d *drawing) all(elements []element) error {
	for _, e := range elements {
		if err := d.one(e); err != nil {
			return err
		}
	}
	return nil
}

func (d *drawing) one(e element) error {
	l := d.sheet.look(e)
	switch e.XMLName.Local {
	case "title", "desc", "circle": // what is read, and where a pointer hits
	case "style":
		d.sheet = newSheet(e.Text)
	case "g", "defs":
		return d.all(e.Children)
	case "pattern":
		d.patterns[e.attr("id")] = e
	case "line":
		d.stroke([]contour{{points: []point{{e.number("x1"), e.number("y1")}, {e.number("x2"), e.number("y2")}}}}, l)
	case "rect":
		d.rect(e, l)
	case "path":
		contours, err := parsePath(e.attr("d"))
		if err != nil {
			return err
		}
		d.canvas.fill(polygons(contours), l.fill)
		d.stroke(contours, l)
	case "text":
		return d.text(e, l)
	default:
		return fmt.Errorf("no way to draw <%s>", e.XMLName.Local)
	}
	return nil
}

func (d *drawing) stroke(contours []contour, l look) {
	if l.stroke.A == 0 {
		return
	}
	var out [][]point
	for _, c := range contours {
		for _, piece := range dashed(c, l.dashes) {
			out = append(out, outline(piece, l.width/2, l.roundCap)...)
		}
	}
	d.canvas.fill(out, l.stroke)
}

// rect fills a rectangle with a colour or with a pattern of lines.
func (d *drawing) rect(e element, l look) {
	x, y, w, h := e.number("x"), e.number("y"), e.number("width"), e.number("height")
	if id, ok := strings.CutPrefix(e.attr("fill"), "url(#"); ok {
		d.hatch(d.patterns[strings.TrimSuffix(id, ")")], x, y, w, h)
		return
	}
	d.canvas.fill([][]point{{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}}}, l.fill)
}

// text writes at a place, or upright along an axis.
func (d *drawing) text(e element, l look) error {
	at, up := point{e.number("x"), e.number("y")}, false
	if t := e.attr("transform"); t != "" {
		if _, err := fmt.Sscanf(t, "translate(%f %f) rotate(-90)", &at.x, &at.y); err != nil {
			return fmt.Errorf("no way to transform a text by %q", t)
		}
		up = true
	}
	letters, width, err := d.letters(e.Text, l.size)
	if err != nil {
		return err
	}
	start := 0.0
	switch e.attr("text-anchor") {
	case "middle":
		start = -width / 2
	case "end":
		start = -width
	}
	for _, polygon := range letters {
		for i, p := range polygon {
			p.x += start
			if up {
				p.x, p.y = p.y, -p.x
			}
			polygon[i] = point{at.x + p.x, at.y + p.y}
		}
	}
	d.canvas.fill(letters, l.fill)
	return nil
}
