package raster_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"rung/results/render/raster"
)

// drawn is a picture of 40 by 20 units at two pixels each.
func drawn(t *testing.T, svg string) image.Image {
	t.Helper()
	b, err := raster.PNG(`<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20">`+svg+`</svg>`, 2)
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// Each pixel named is of its colour, as a browser would have it.
func TestPNG(t *testing.T) {
	const red, white, pale = 0xff0000, 0xffffff, 0xff7f7f
	for name, c := range map[string]struct {
		svg  string
		want map[image.Point]uint32
	}{
		"rect":          {`<rect x="5" y="5" width="10" height="10" fill="#ff0000"/>`, map[image.Point]uint32{{10, 10}: red, {29, 29}: red, {9, 10}: white, {30, 29}: white}},
		"opacity":       {`<rect width="40" height="20" fill="#ff0000" opacity=".5"/>`, map[image.Point]uint32{{40, 20}: pale}},
		"colour's own":  {`<rect width="40" height="20" fill="#ff000080"/>`, map[image.Point]uint32{{40, 20}: pale}},
		"none":          {`<rect width="40" height="20" fill="none"/><circle r="9"/>`, map[image.Point]uint32{{0, 0}: white, {40, 20}: white}},
		"dashes":        {`<line x1="0" y1="10" x2="40" y2="10" stroke="#ff0000" stroke-width="4" stroke-dasharray="10 5"/>`, map[image.Point]uint32{{5, 20}: red, {19, 20}: red, {20, 20}: white, {29, 20}: white, {30, 20}: red, {5, 25}: white}},
		"hollow":        {`<path d="M10 10a5 5 0 1 0 10 0a5 5 0 1 0 -10 0Z" fill="none" stroke="#ff0000" stroke-width="2"/>`, map[image.Point]uint32{{20, 20}: red, {39, 20}: red, {30, 20}: white, {30, 10}: red, {30, 29}: red}},
		"later rules":   {"<style>.a.b { fill: #ff0000; }\nrect { fill: #0000ff; }\n.a { fill: #00ff00; }\n.a:hover { fill: #000000; }</style>" + `<rect class="a b" width="40" height="20" fill="#111111"/>`, map[image.Point]uint32{{40, 20}: red}},
		"broken path":   {`<path d="M0 10L10 10M30 10L40 10" stroke="#ff0000" stroke-width="4" fill="none"/>`, map[image.Point]uint32{{10, 20}: red, {40, 20}: white, {70, 20}: red}},
		"a sharp bend":  {`<path d="M0 10L30 10L0 10.5" stroke="#ff0000" stroke-width="4" fill="none"/>`, map[image.Point]uint32{{30, 20}: red, {62, 20}: red}},
		"beyond bounds": {`<line x1="-1e300" y1="10" x2="1e300" y2="10" stroke="#ff0000" stroke-width="4" stroke-dasharray="4 4"/>`, map[image.Point]uint32{{36, 20}: red, {44, 20}: white, {36, 10}: white}},
	} {
		img := drawn(t, c.svg)
		for at, want := range c.want {
			got := color.NRGBAModel.Convert(img.At(at.X, at.Y)).(color.NRGBA)
			if have := uint32(got.R)<<16 | uint32(got.G)<<8 | uint32(got.B); have != want {
				t.Errorf("%s: at %v %06x, not %06x", name, at, have, want)
			}
		}
	}
}

// inked is the least box around the pixels that are not white.
func inked(img image.Image) (box image.Rectangle) {
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if r, g, b, _ := img.At(x, y).RGBA(); r+g+b < 3*0xffff {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}

// A text the font has no letters for is shown as boxes, and one of odd characters ends nothing.
func TestTexts(t *testing.T) {
	for _, s := range []string{"12.5 ms", "µs", "Задержка", "批次", "دفعة", "🙂", "a\u0301\u200d", "\ufffd"} {
		if n := inked(drawn(t, `<text x="20" y="14" text-anchor="middle">`+s+`</text>`)); n.Dx() < 5 || n.Dy() < 8 {
			t.Errorf("%q: %v", s, n)
		}
	}
	up := inked(drawn(t, `<text transform="translate(20.0 10.0) rotate(-90)" text-anchor="middle">lllll</text>`))
	across := inked(drawn(t, `<text x="20" y="14" text-anchor="middle">lllll</text>`))
	if up.Dx() != across.Dy() || up.Dy() != across.Dx() || up.Max.X > 41 || across.Dx() <= across.Dy() {
		t.Errorf("%v upright, %v across", up, across)
	}
	if n := inked(drawn(t, `<text x="20" y="14">`+strings.Repeat("x", 100000)+`</text>`)); n.Dx() != 40 {
		t.Errorf("a long text: %v", n)
	}
}

// What the package does not know it says, rather than leave it out.
func TestRefused(t *testing.T) {
	for _, svg := range []string{
		``, `<svg`, `<svg width="40" height="0"/>`, `<svg width="1e9" height="1e9"/>`, `<svg width="40" height="20"><image/></svg>`,
		`<svg width="40" height="20"><path d="M0 0C1 1 2 2 3 3"/></svg>`, `<svg width="40" height="20"><path d="L0 0"/></svg>`,
		`<svg width="40" height="20"><path d="M0"/></svg>`, `<svg width="40" height="20"><path d="Mx y"/></svg>`,
		`<svg width="40" height="20"><path d="a1 1 0 1 0 1 1"/></svg>`, `<svg width="40" height="20"><text transform="scale(2)">x</text></svg>`,
	} {
		if _, err := raster.PNG(svg, 2); err == nil {
			t.Errorf("%s was drawn", svg)
		}
	}
}
