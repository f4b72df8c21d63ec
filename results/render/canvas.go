package render

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// canvas collects the elements of one SVG picture. Coordinates are in the units
// of its view box; all colours are classes of the page's style sheet, so that the
// picture follows the page's theme. Every text is escaped here.
type canvas struct {
	b    strings.Builder
	w, h float64
}

func (c *canvas) add(format string, args ...any) { fmt.Fprintf(&c.b, format, args...) }

func (c *canvas) line(x1, y1, x2, y2 float64, class string) {
	c.add(`<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

func (c *canvas) rect(x, y, w, h float64, class string) {
	c.add(`<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, class, x, y, math.Max(0, w), math.Max(0, h))
}

func (c *canvas) path(d, class string) { c.add(`<path class="%s" d="%s"/>`, class, d) }

// text writes s; anchor is start, middle or end.
func (c *canvas) text(x, y float64, anchor, class, s string) {
	c.add(`<text class="%s" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, class, x, y, anchor, html.EscapeString(safe(s)))
}

// upright writes s along a vertical axis, read from below.
func (c *canvas) upright(x, y float64, class, s string) {
	c.add(`<text class="%s" transform="translate(%.1f %.1f) rotate(-90)" text-anchor="middle">%s</text>`, class, x, y, html.EscapeString(safe(s)))
}

// spot is a place that shows its exact figures on hover, with room to hit it.
func (c *canvas) spot(x, y float64, title string, draw func()) {
	c.add(`<g class="spot"><title>%s</title>`, html.EscapeString(safe(title)))
	draw()
	c.add(`<circle class="hit" cx="%.1f" cy="%.1f" r="11"/></g>`, x, y)
}

// point is a place on the canvas.
type point struct{ x, y float64 }

// polyline is the path through points; it breaks where one is not finite.
func polyline(pts []point) string {
	var b strings.Builder
	pen := "M"
	for _, p := range pts {
		if math.IsNaN(p.y) {
			pen = "M"
			continue
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", pen, p.x, p.y)
		pen = "L"
	}
	return b.String()
}

// band is the closed path between two rows of points.
func band(upper, lower []point) string {
	if len(upper) == 0 {
		return ""
	}
	back := make([]point, len(lower))
	for i, p := range lower {
		back[len(lower)-1-i] = p
	}
	return polyline(upper) + "L" + strings.TrimPrefix(polyline(back), "M") + "Z"
}

// The shapes of points and marks. Each is told from the others without colour.
const (
	shapeCircle   = "circle"
	shapeTriangle = "triangle"
	shapeSquare   = "square"
	shapeDiamond  = "diamond"
	shapeStar     = "star"
	shapeDown     = "down"
	shapeCross    = "cross"
	shapeBar      = "bar"
	shapeHexagon  = "hexagon"
)

// shape is the path of a shape of radius r around a point.
func shape(kind string, x, y, r float64) string {
	corner := func(angle, radius float64) string {
		return fmt.Sprintf("%.2f %.2f", x+radius*math.Sin(angle), y-radius*math.Cos(angle))
	}
	polygon := func(n int, from float64, radius func(int) float64) string {
		var pts []string
		for i := range n {
			pts = append(pts, corner(from+2*math.Pi*float64(i)/float64(n), radius(i)))
		}
		return "M" + strings.Join(pts, "L") + "Z"
	}
	even := func(k float64) func(int) float64 { return func(int) float64 { return k * r } }
	switch kind {
	case shapeTriangle:
		return polygon(3, 0, even(1.2))
	case shapeDown:
		return polygon(3, math.Pi, even(1.2))
	case shapeSquare:
		return polygon(4, math.Pi/4, even(1.15))
	case shapeDiamond:
		return polygon(4, 0, even(1.2))
	case shapeHexagon:
		return polygon(6, 0, even(1.15))
	case shapeStar:
		return polygon(10, 0, func(i int) float64 {
			if i%2 == 0 {
				return 1.35 * r
			}
			return 0.56 * r
		})
	case shapeCross:
		return fmt.Sprintf("M%.2f %.2fL%.2f %.2fM%.2f %.2fL%.2f %.2f", x-r, y-r, x+r, y+r, x-r, y+r, x+r, y-r)
	case shapeBar:
		return fmt.Sprintf("M%.2f %.2fL%.2f %.2f", x, y-1.2*r, x, y+1.2*r)
	default:
		return fmt.Sprintf("M%.2f %.2fa%.2f %.2f 0 1 0 %.2f 0a%.2f %.2f 0 1 0 %.2f 0Z", x-r, y, r, r, 2*r, r, r, -2*r)
	}
}

// picture closes the canvas: an image with a name and a description for those who
// do not see it.
func (c *canvas) picture(id, class, title, desc string) string {
	return fmt.Sprintf(`<svg class="%s" role="img" aria-labelledby="%s-t %s-d" viewBox="0 0 %.0f %.0f" preserveAspectRatio="xMidYMid meet"><title id="%s-t">%s</title><desc id="%s-d">%s</desc>%s</svg>`,
		class, id, id, c.w, c.h, id, html.EscapeString(safe(title)), id, html.EscapeString(safe(desc)), c.b.String())
}
