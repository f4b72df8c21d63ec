package raster

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"

	"golang.org/x/image/vector"
)

// most is the greatest side of an image, in pixels.
const most = 16384

// point is a place in the units of the view box.
type point struct{ x, y float64 }

// canvas is the image under way, white at first.
type canvas struct {
	img   *image.RGBA
	scale float64 // pixels to a unit
}

func newCanvas(w, h, scale float64) (*canvas, error) {
	w, h = math.Round(w*scale), math.Round(h*scale)
	if !(w >= 1 && h >= 1 && w <= most && h <= most) {
		return nil, fmt.Errorf("a picture of %g by %g pixels", w, h)
	}
	c := &canvas{image.NewRGBA(image.Rect(0, 0, int(w), int(h))), scale}
	draw.Draw(c.img, c.img.Bounds(), image.White, image.Point{}, draw.Src)
	return c, nil
}

// fill paints polygons as one shape, by the non-zero rule.
func (c *canvas) fill(polygons [][]point, with color.NRGBA) {
	if with.A == 0 {
		return
	}
	box := c.bounds(polygons).Intersect(c.img.Bounds())
	if box.Empty() {
		return
	}
	// A rasteriser as large as the shape alone: a dot is not worth a pass over the image.
	r := vector.NewRasterizer(box.Dx(), box.Dy())
	for _, polygon := range polygons {
		for i, p := range polygon {
			x, y := float32(p.x*c.scale-float64(box.Min.X)), float32(p.y*c.scale-float64(box.Min.Y))
			if i == 0 {
				r.MoveTo(x, y)
			} else {
				r.LineTo(x, y)
			}
		}
		r.ClosePath()
	}
	r.Draw(c.img, box, image.NewUniform(with), image.Point{})
}

// bounds are the pixels that polygons touch.
func (c *canvas) bounds(polygons [][]point) image.Rectangle {
	x0, y0, x1, y1 := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, polygon := range polygons {
		for _, p := range polygon {
			x0, x1 = math.Min(x0, p.x), math.Max(x1, p.x)
			y0, y1 = math.Min(y0, p.y), math.Max(y1, p.y)
		}
	}
	if x1 < x0 {
		return image.Rectangle{}
	}
	return image.Rect(int(math.Floor(x0*c.scale)), int(math.Floor(y0*c.scale)), int(math.Ceil(x1*c.scale)), int(math.Ceil(y1*c.scale)))
}
