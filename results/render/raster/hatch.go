package raster

import "math"

// hatch fills a rectangle with a pattern: its one line, again and again, at the
// distance of the pattern's width, turned by 45 degrees.
func (d *drawing) hatch(pattern element, x, y, w, h float64) {
	period := pattern.number("width")
	if period <= 0 || len(pattern.Children) != 1 {
		return
	}
	l := d.sheet.look(pattern.Children[0])
	var out [][]point
	// Along a line x + y stays the same. Half of each line is drawn: the pattern's tile
	// cuts off the other.
	apart := period * math.Sqrt2
	for k := math.Floor((x+y)/apart) - 1; k*apart < x+w+y+h; k++ {
		out = append(out, clipped(x, y, w, h, k*apart, k*apart+l.width/2*math.Sqrt2))
	}
	d.canvas.fill(out, l.stroke)
}

// clipped is what of the strip low <= x + y <= high lies in a rectangle.
func clipped(x, y, w, h, low, high float64) []point {
	out := []point{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}}
	out = half(out, func(p point) float64 { return p.x + p.y - low })
	return half(out, func(p point) float64 { return high - p.x - p.y })
}

// half is what of a convex polygon lies where inside is not negative.
func half(polygon []point, inside func(point) float64) []point {
	var out []point
	for i, a := range polygon {
		b := polygon[(i+1)%len(polygon)]
		ia, ib := inside(a), inside(b)
		if ia >= 0 {
			out = append(out, a)
		}
		if (ia < 0) != (ib < 0) {
			out = append(out, between(a, b, ia/(ia-ib)))
		}
	}
	return out
}
