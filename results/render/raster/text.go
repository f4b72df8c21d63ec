package raster

import (
	"fmt"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// letters are the outlines of a text from its start on its line, and its width. A
// letter that the font lacks is the font's box for that.
func (d *drawing) letters(s string, size float64) ([][]point, float64, error) {
	if d.font == nil {
		var err error
		if d.font, err = sfnt.Parse(goregular.TTF); err != nil {
			return nil, 0, fmt.Errorf("the font: %w", err)
		}
	}
	em := fixed.I(int(d.font.UnitsPerEm())) // the font's own units: nothing is rounded
	unit := size / float64(em)
	var out [][]point
	var buf sfnt.Buffer
	x := 0.0
	for _, r := range s {
		i, err := d.font.GlyphIndex(&buf, r)
		if err != nil {
			return nil, 0, fmt.Errorf("the letter %q: %w", r, err)
		}
		segments, err := d.font.LoadGlyph(&buf, i, em, nil)
		if err != nil {
			return nil, 0, fmt.Errorf("the letter %q: %w", r, err)
		}
		out = append(out, glyph(segments, func(p fixed.Point26_6) point { return point{x + float64(p.X)*unit, float64(p.Y) * unit} })...)
		wide, err := d.font.GlyphAdvance(&buf, i, em, font.HintingNone)
		if err != nil {
			return nil, 0, fmt.Errorf("the letter %q: %w", r, err)
		}
		x += float64(wide) * unit
	}
	return out, x, nil
}

// curve is in how many lines a curve of a letter is drawn.
const curve = 6

// glyph are the contours of one letter. A TrueType font has lines and curves of one
// control point.
func glyph(segments sfnt.Segments, at func(fixed.Point26_6) point) [][]point {
	var out [][]point
	for _, s := range segments {
		if s.Op == sfnt.SegmentOpMoveTo {
			out = append(out, nil)
		}
		last := &out[len(out)-1]
		if s.Op != sfnt.SegmentOpQuadTo {
			*last = append(*last, at(s.Args[0]))
			continue
		}
		a, b, c := (*last)[len(*last)-1], at(s.Args[0]), at(s.Args[1])
		for i := 1; i <= curve; i++ {
			t := float64(i) / curve
			*last = append(*last, between(between(a, b, t), between(b, c, t), t))
		}
	}
	return out
}
