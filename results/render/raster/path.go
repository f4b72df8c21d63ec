package raster

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// contour is a run of points, closed or not.
type contour struct {
	points []point
	closed bool
}

func polygons(contours []contour) [][]point {
	var out [][]point
	for _, c := range contours {
		out = append(out, c.points)
	}
	return out
}

// far is beyond every picture. Figures from elsewhere end there, so that none makes a
// dashed line of endless dashes.
const far = 1e5

func within(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return math.Max(-far, math.Min(far, v))
}

// halfCircle is in how many lines half a circle is drawn.
const halfCircle = 16

// parsePath reads the data of a path: M, L, Z and the half circles of dots.
func parsePath(d string) ([]contour, error) {
	words := strings.Fields(strings.NewReplacer("M", " M ", "L", " L ", "a", " a ", "Z", " Z ").Replace(d))
	var out []contour
	for len(words) > 0 {
		op, n := words[0], map[string]int{"M": 2, "L": 2, "a": 7}[words[0]]
		args, err := numbers(words[1:], n)
		if err != nil || op != "M" && len(out) == 0 {
			return nil, fmt.Errorf("no way to draw a path from %q on", op)
		}
		words = words[1+n:]
		if op == "M" {
			out = append(out, contour{})
		}
		last := &out[len(out)-1]
		switch op {
		case "M", "L":
			last.points = append(last.points, point{args[0], args[1]})
		case "Z":
			last.closed = true
		case "a":
			last.arc(args[5], args[6])
		default:
			return nil, fmt.Errorf("no way to draw a path with %q", op)
		}
	}
	return out, nil
}

func numbers(words []string, n int) ([]float64, error) {
	if len(words) < n {
		return nil, strconv.ErrSyntax
	}
	out := make([]float64, n)
	for i := range out {
		v, err := strconv.ParseFloat(words[i], 64)
		if err != nil {
			return nil, err
		}
		out[i] = within(v)
	}
	return out, nil
}

// arc goes on by half a circle to a place dx, dy away.
func (c *contour) arc(dx, dy float64) {
	from := c.points[len(c.points)-1]
	middle := point{from.x + dx/2, from.y + dy/2}
	for i := 1; i <= halfCircle; i++ {
		sin, cos := math.Sincos(math.Pi * float64(i) / halfCircle)
		c.points = append(c.points, point{middle.x - dx/2*cos - dy/2*sin, middle.y + dx/2*sin - dy/2*cos})
	}
}
