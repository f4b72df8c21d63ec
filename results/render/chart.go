package render

import (
	"fmt"
	"html/template"
	"math"

	"rung/results"
)

// frame is where a chart lies on its canvas, in the canvas' units.
type frame struct {
	w, h                     float64
	left, right, top, bottom float64
	words                    bool // room for the marks' names
}

// Two sizes are drawn of each picture and the page shows the one that fits: a
// picture scaled down to a telephone would have unreadable figures.
func wideFrame() frame {
	return frame{w: 640, h: 380, left: 62, right: 62, top: 48, bottom: 50, words: true}
}

func narrowFrame() frame {
	return frame{w: 360, h: 320, left: 50, right: 46, top: 34, bottom: 48}
}

// oneAxis is the frame without the room for an axis on the right.
func (f frame) oneAxis() frame {
	f.right, f.left = 18, max(f.left, 66)
	return f
}

func (f frame) x0() float64 { return f.left }
func (f frame) x1() float64 { return f.w - f.right }
func (f frame) y0() float64 { return f.h - f.bottom }
func (f frame) y1() float64 { return f.top }

// markLook is how a mark is drawn, on every chart and in every legend alike.
type markLook struct {
	mark  results.Mark
	shape string
}

func markLooks() []markLook {
	return []markLook{
		{results.MarkLimit, shapeDiamond}, {results.MarkBest, shapeStar}, {results.MarkKnee, shapeDown},
		{results.MarkBoundary, shapeSquare}, {results.MarkEdge, shapeCross}, {results.MarkCapacity, shapeHexagon},
	}
}

func lookOf(m results.Mark) markLook {
	for _, l := range markLooks() {
		if l.mark == m {
			return l
		}
	}
	return markLook{m, shapeCircle}
}

// glyph is a mark as a small picture of its own, for tiles, tables and legends.
func glyph(m results.Mark) template.HTML {
	return icon("mark-"+string(m), lookOf(m).shape)
}

func icon(class, kind string) template.HTML {
	d := shape(kind, 8, 8, 5)
	return template.HTML(fmt.Sprintf(`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path class="%s" d="%s"/></svg>`, class, d))
}

// lineIcon is a line with its point, as in the charts, for the legend.
func lineIcon(class, kind string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg class="icon long" viewBox="0 0 32 16" aria-hidden="true"><path class="line %s" d="M1 8L31 8"/><path class="dot %s" d="%s"/></svg>`,
		class, class, shape(kind, 16, 8, 4)))
}

func bandIcon(class string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg class="icon long" viewBox="0 0 32 16" aria-hidden="true"><path class="%s" d="M1 3L31 3L31 13L1 13Z"/></svg>`, class))
}

// chart is one picture under way.
type chart struct {
	canvas
	frame
	l  *results.Ladder
	xs scale
}

// roomForWords is the distance of two rungs from which on the names of their marks
// do not touch.
const roomForWords = 50

// newChart draws what both pictures share: the shaded region from the edge on,
// the axis of the rungs and their marks.
func newChart(l *results.Ladder, f frame, id string) *chart {
	c := &chart{canvas: canvas{w: f.w, h: f.h}, frame: f, l: l}
	var values []float64
	for _, r := range l.Rungs {
		values = append(values, r.Value)
	}
	c.xs = rungScale(append(values, l.NotWalked...), f.x0(), f.x1())
	c.edge(id)
	last, labelled := math.Inf(-1), math.Inf(-1)
	for _, v := range values {
		x := c.xs.at(v)
		c.words = c.words && x-last >= roomForWords
		c.line(x, c.y0(), x, c.y0()+4, "tick")
		if x-labelled >= 24 { // labels that would touch are left out
			c.text(x, c.y0()+18, "middle", "label", value(v))
			labelled = x
		}
		last = x
	}
	c.text((c.x0()+c.x1())/2, c.frame.h-10, "middle", "axis", axisName(l))
	return c
}

func axisName(l *results.Ladder) string {
	switch l.Axis {
	case "batch":
		return "batch, inputs a request (log scale)"
	case "concurrency":
		return "concurrency, requests in flight (log scale)"
	case "rate":
		return "rate, requests due a second (log scale)"
	case "output_tokens":
		return "tokens of the output (log scale)"
	default:
		return "tokens of the input (log scale)"
	}
}

// edge shades what lies from the edge on, from half a step below it.
func (c *chart) edge(id string) {
	e := c.l.Edge
	if e == nil {
		return
	}
	from := c.xs.at(e.Value)
	if c.l.Boundary != nil {
		from = (from + c.xs.at(*c.l.Boundary)) / 2
	} else {
		from = c.x0()
	}
	c.add(`<defs><pattern id="%s-h" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="hatch" x1="0" y1="0" x2="0" y2="7"/></pattern></defs>`, id)
	c.rect(from, c.y1(), c.x1()-from, c.y0()-c.y1(), "edge-region")
	c.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="url(#%s-h)"/>`, from, c.y1(), math.Max(0, c.x1()-from), c.y0()-c.y1(), id)
}

// grid draws one axis of values. side is -1 for the left, with lines across, and
// 1 for the right.
func (c *chart) grid(s scale, ticks []float64, side int, class, name string, label func(float64) string) {
	for _, v := range ticks {
		y := s.at(v)
		if side < 0 {
			c.line(c.x0(), y, c.x1(), y, "grid")
			c.text(c.x0()-7, y+4, "end", "label "+class, label(v))
		} else {
			c.text(c.x1()+7, y+4, "start", "label "+class, label(v))
		}
	}
	middle := (c.y0() + c.y1()) / 2
	if side < 0 {
		c.upright(13, middle, "axis "+class, name)
	} else {
		c.upright(c.frame.w-5, middle, "axis "+class, name)
	}
}

// marks draws the marks above the plot, each with a line down to its rung.
func (c *chart) marks() {
	const apart, row = 14.0, 14.0
	last, top := math.Inf(-1), 0.0
	for _, r := range c.l.Rungs {
		x, y := c.xs.at(r.Value), c.y1()-9
		if len(r.Marks) > 0 {
			if x-last < apart { // too near: above those of the rung before
				y = top
			}
			last = x
			c.line(x, c.y1()-3, x, c.y0(), "guide guide-"+string(r.Marks[0]))
		}
		for _, m := range r.Marks {
			c.add(`<g class="spot"><title>%s</title>`, fmt.Sprintf("%s: %s", m, value(r.Value)))
			if c.words {
				w := float64(6*len(m)) / 2
				c.path(shape(lookOf(m).shape, x-w-3, y-4, 4.5), "mark-"+string(m))
				c.text(x-w+5, y, "start", "mark-name", string(m))
			} else {
				c.path(shape(lookOf(m).shape, x, y-2, 4.5), "mark-"+string(m))
			}
			c.add(`</g>`)
			y -= row
		}
		top = y
	}
}

// dots draws points of one shape, each with its figures.
func (c *chart) dots(pts []point, kind, class string, hollow func(int) bool, title func(int) string) {
	for i, p := range pts {
		if math.IsNaN(p.y) {
			continue
		}
		k := "dot " + class
		if hollow != nil && hollow(i) {
			k = "dot hollow " + class
		}
		c.spot(p.x, p.y, title(i), func() { c.path(shape(kind, p.x, p.y, 4.2), k) })
	}
}

// level draws a line across the plot with its name at its right or left end.
func (c *chart) level(y float64, class, name string, right bool) {
	if y < c.y1()-0.5 || y > c.y0()+0.5 {
		return
	}
	c.line(c.x0(), y, c.x1(), y, "level "+class)
	if right {
		c.text(c.x1()-4, y-5, "end", "level-name "+class, name)
	} else {
		c.text(c.x0()+4, y-5, "start", "level-name "+class, name)
	}
}
