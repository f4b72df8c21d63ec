package raster

import (
	"math"
	"slices"
)

// outline is the stroke of a contour as polygons: a box a line, and at each bend the
// wedge between two boxes. All turn the same way, so that where they overlap they do
// not cancel each other.
func outline(c contour, radius float64, roundCap bool) [][]point {
	pts := slices.CompactFunc(slices.Clone(c.points), same)
	if c.closed && len(pts) > 1 {
		if !same(pts[0], pts[len(pts)-1]) {
			pts = append(pts, pts[0])
		}
		pts = append(pts, pts[1]) // the first line again, for the last bend
	}
	var out [][]point
	before := 0.0
	for i := 1; i < len(pts); i++ {
		a, b := pts[i-1], pts[i]
		angle := math.Atan2(b.y-a.y, b.x-a.x)
		if i > 1 {
			out = append(out, bend(a, before, angle, radius))
		}
		before = angle
		if c.closed && i == len(pts)-1 {
			break
		}
		out = append(out, box(a, b, angle, radius))
		if roundCap && i == 1 {
			out = append(out, wedge(a, angle+math.Pi/2, math.Pi, radius))
		}
		if roundCap && i == len(pts)-1 {
			out = append(out, wedge(b, angle-math.Pi/2, math.Pi, radius))
		}
	}
	return out
}

// same says that two places are one but for rounding: a line between them has no
// direction to go by.
func same(a, b point) bool { return math.Hypot(b.x-a.x, b.y-a.y) < 1e-6 }

func box(a, b point, angle, radius float64) []point {
	sin, cos := math.Sincos(angle)
	nx, ny := -radius*sin, radius*cos
	return []point{{a.x - nx, a.y - ny}, {b.x - nx, b.y - ny}, {b.x + nx, b.y + ny}, {a.x + nx, a.y + ny}}
}

// bend rounds the outer side of a bend.
func bend(at point, before, after, radius float64) []point {
	turn := math.Remainder(after-before, 2*math.Pi)
	side := math.Pi / 2
	if turn > 0 {
		side = -side
	}
	return wedge(at, before+side, turn, radius)
}

// wedge is the part of a disc that an angle sweeps.
func wedge(at point, from, sweep, radius float64) []point {
	if sweep < 0 { // turn as the boxes do
		from, sweep = from+sweep, -sweep
	}
	out := []point{at}
	steps := math.Ceil(sweep / (math.Pi / 12))
	for i := range int(steps) + 1 {
		sin, cos := math.Sincos(from + sweep*float64(i)/math.Max(1, steps))
		out = append(out, point{at.x + radius*cos, at.y + radius*sin})
	}
	return out
}

// dashed cuts a contour into the pieces that are drawn; dashes of none leave it whole.
func dashed(c contour, dashes []float64) []contour {
	if len(dashes) == 0 {
		return []contour{c}
	}
	var out []contour
	drawn, k, left := []point{}, 0, dashes[0]
	for i := 1; i < len(c.points); i++ {
		a, b := c.points[i-1], c.points[i]
		long := math.Hypot(b.x-a.x, b.y-a.y)
		for at := 0.0; at < long; {
			step := math.Min(left, long-at)
			if k%2 == 0 {
				if len(drawn) == 0 {
					drawn = append(drawn, between(a, b, at/long))
				}
				drawn = append(drawn, between(a, b, (at+step)/long))
			}
			at, left = at+step, left-step
			if left <= 0 {
				if k%2 == 0 {
					out, drawn = append(out, contour{points: drawn}), nil
				}
				k++
				left = dashes[k%len(dashes)]
			}
		}
	}
	return append(out, contour{points: drawn})
}

func between(a, b point, share float64) point {
	return point{a.x + (b.x-a.x)*share, a.y + (b.y-a.y)*share}
}
