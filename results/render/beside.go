package render

import (
	"cmp"
	"fmt"
	"html/template"
	"io"
	"math"
	"net/url"
	"slices"
	"strings"

	"rung/results"
	"rung/spec/plan"
)

// Beside is one of several runs that a page tells of.
type Beside struct {
	Report *results.Report
	Page   string // the path of its own page from the folder of the one of all, with slashes
}

// BesideHTML writes what several runs found as one page that needs nothing else: the rows
// of SideBySide, and for each ladder the runs' throughput and P95 on one axis.
func BesideHTML(w io.Writer, runs []Beside) error {
	p := besidePage{Title: plural(len(runs), "run", "runs") + " side by side"}
	var reports []*results.Report
	for i, r := range runs {
		link := url.URL{Path: r.Page}
		class, kind := lookOfRun(i)
		reports = append(reports, r.Report)
		p.Runs = append(p.Runs, besideRun{
			Icon: lineIcon(class, kind), Name: runName(r.Report), Link: link.String(),
			Verdict: safe(r.Report.Verdict), Byline: besideByline(r.Report),
		})
	}
	p.Band, p.Table = besideBand(reports), plainTable(sideTable(reports))
	ids := map[string]bool{"runs": true, "figures": true}
	for _, o := range overlays(reports) {
		p.Ladders = append(p.Ladders, o.page(anchor(o.all.Name, ids)))
	}
	return writePage(w, "beside.tmpl", p)
}

// besidePage is what the template shows; its strings are safe texts, as a page's.
type besidePage struct {
	Title, Band string
	Runs        []besideRun
	Table       tablePage
	Ladders     []ladderPage
}

type besideRun struct {
	Icon                        template.HTML
	Name, Link, Verdict, Byline string
}

func besideByline(rep *results.Report) string {
	s := safe(rep.Run.Experiment + " · " + byline(rep))
	if n := len(rep.Notices); n > 0 {
		s += " · " + plural(n, "notice", "notices") + " in its report"
	}
	return s
}

// besideBand says which runs are simulated; nothing where none is.
func besideBand(reports []*results.Report) string {
	var names []string
	for _, rep := range reports {
		if rep.Simulated {
			names = append(names, safe(rep.Run.RunID))
		}
	}
	switch len(names) {
	case 0:
		return ""
	case len(reports):
		return simulatedBand
	default:
		return "SIMULATED: every figure of " + strings.Join(names, ", ") + " is of rung's simulated server or card, none of a real one"
	}
}

// lookOfRun is how the i-th run is drawn. Shapes and dashes go round at different
// lengths, so that thirty runs are told apart without colour.
func lookOfRun(i int) (class, kind string) {
	shapes := []string{shapeCircle, shapeDiamond, shapeTriangle, shapeSquare, shapeDown, shapeHexagon}
	return fmt.Sprintf("run run-%d dash-%d", i%len(shapes), i%5), shapes[i%len(shapes)]
}

// overlay is a ladder as several runs walked it.
type overlay struct {
	all   results.Ladder // the rungs of all, for the axis
	unit  string
	parts []part
}

// part is one run's walk of it.
type part struct {
	run         string
	class, kind string
	l           *results.Ladder
}

// overlays are the ladders of one name, axis and unit, in the order they are met.
func overlays(reports []*results.Report) []overlay {
	type key struct {
		name string
		axis plan.Axis
		unit string
	}
	var out []overlay
	at := map[key]int{}
	for i, rep := range reports {
		class, kind := lookOfRun(i)
		for k := range rep.Ladders {
			l := &rep.Ladders[k]
			if len(l.Rungs) == 0 {
				continue
			}
			_, unit := drawn(l, &l.Rungs[0])
			of := key{l.Name, l.Axis, unit}
			if _, ok := at[of]; !ok {
				at[of] = len(out)
				out = append(out, overlay{all: results.Ladder{Name: l.Name, Axis: l.Axis}, unit: unit})
			}
			o := &out[at[of]]
			o.parts = append(o.parts, part{runName(rep), class, kind, l})
			for _, r := range l.Rungs {
				o.all.Rungs = append(o.all.Rungs, results.Rung{Value: r.Value})
			}
		}
	}
	for i := range out {
		rungs := out[i].all.Rungs
		slices.SortFunc(rungs, func(a, b results.Rung) int { return cmp.Compare(a.Value, b.Value) })
		out[i].all.Rungs = slices.CompactFunc(rungs, func(a, b results.Rung) bool { return a.Value == b.Value })
	}
	return out
}

// page is the overlay's section.
func (o overlay) page(id string) ladderPage {
	p := ladderPage{ID: id, Name: safe(o.all.Name)}
	for i, m := range []measure{throughputOf(o.unit), p95Of()} {
		drawing := picture{
			Caption: m.name + " against " + axisHead(o.all.Axis),
			Wide:    o.draw(m, wideFrame().oneAxis(), fmt.Sprintf("%s-o%d", id, i)),
			Narrow:  o.draw(m, narrowFrame().oneAxis(), fmt.Sprintf("%s-on%d", id, i)),
		}
		for _, part := range o.parts {
			drawing.Lines = append(drawing.Lines, legend{lineIcon(part.class, part.kind), part.run})
		}
		drawing.Marks = []legend{
			{ringIcon(), "ring: the run's limit"}, {icon("cut run", shapeCross), "cross at the foot: its edge"},
			{icon("dot hollow run", shapeCircle), m.hollowMeans},
		}
		p.Pictures = append(p.Pictures, drawing)
	}
	return p
}

// measure is a figure of a rung, as it is drawn of several runs.
type measure struct {
	name, axis  string
	log         bool
	of          func(*results.Ladder, *results.Rung) *float64 // nil where there is none
	hollow      func(*results.Rung) bool
	hollowMeans string
	title       func(*results.Ladder, *results.Rung) string
}

func throughputOf(unit string) measure {
	return measure{
		name: "Throughput", axis: unit, hollow: doubtful, title: throughputTitle,
		hollowMeans: "hollow: beside failures, limited by the client, or saturated",
		of: func(l *results.Ladder, r *results.Rung) *float64 {
			x, _ := drawn(l, r)
			return x
		},
	}
}

func p95Of() measure {
	return measure{
		name: "P95", axis: "P95 (log scale)", log: true, title: latencyTitle,
		hollow:      func(r *results.Rung) bool { return !r.Latency.P95Supported },
		hollowMeans: fmt.Sprintf("hollow: on fewer than %d requests; not joined: beside failures", results.P95Needs),
		of: func(_ *results.Ladder, r *results.Rung) *float64 {
			if r.Latency == nil || r.Latency.P95S <= 0 {
				return nil
			}
			return &r.Latency.P95S
		},
	}
}

func (o overlay) draw(m measure, f frame, id string) template.HTML {
	c := newChart(&o.all, f, id)
	title := fmt.Sprintf("Ladder %q: %s of %s", o.all.Name, m.name, plural(len(o.parts), "run", "runs"))
	low, high := o.reach(m)
	if high <= 0 {
		c.text((c.x0()+c.x1())/2, (c.y0()+c.y1())/2, "middle", "label", "nothing was measured")
		return template.HTML(c.picture(id, size(f), title, "No figures."))
	}
	ys, ticks := linear(high, c.y0(), c.y1())
	show := short1
	if m.log {
		ys, ticks = logarithmic(low, high, c.y0(), c.y1())
		show = span
	}
	c.grid(ys, ticks, -1, "", m.axis, show) // of no colour: those are the runs'
	o.edges(c)
	for _, p := range o.parts {
		pts := make([]point, len(p.l.Rungs))
		for i := range p.l.Rungs {
			r := &p.l.Rungs[i]
			pts[i] = point{c.xs.at(r.Value), math.NaN()}
			if x := m.of(p.l, r); x != nil {
				pts[i].y = ys.at(*x)
			}
		}
		c.path(polyline(trend(p.l, pts)), "line "+p.class)
		p.ring(c, pts)
		c.dots(pts, p.kind, p.class, func(i int) bool { return m.hollow(&p.l.Rungs[i]) },
			func(i int) string {
				return p.run + ", " + m.title(p.l, &p.l.Rungs[i]) + alsoMarks(p.l.Rungs[i].Marks)
			})
	}
	return template.HTML(c.picture(id, size(f), title, "A line a run. The figures at the limits are in the table above, all others in the runs' own reports."))
}

// alsoMarks names a rung's marks after its figures.
func alsoMarks(all []results.Mark) string {
	if len(all) == 0 {
		return ""
	}
	return "; " + marks(all)
}

// ring goes around the point of a run's limit.
func (p part) ring(c *chart, pts []point) {
	for i, at := range pts {
		if slices.Contains(p.l.Rungs[i].Marks, results.MarkLimit) && !math.IsNaN(at.y) {
			c.path(shape(shapeCircle, at.x, at.y, 8), "ring "+p.class)
		}
	}
}

// ringIcon is a limit's ring around its point, for the legend.
func ringIcon() template.HTML {
	return template.HTML(fmt.Sprintf(`<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path class="ring run" d="%s"/><path class="dot run" d="%s"/></svg>`,
		shape(shapeCircle, 8, 8, 6.5), shape(shapeCircle, 8, 8, 3)))
}

// edges are crosses at the foot of the plot: few rungs that failed have a figure. Those of
// several runs at one rung stand above one another.
func (o overlay) edges(c *chart) {
	above := map[float64]float64{}
	for _, p := range o.parts {
		e := p.l.Edge
		if e == nil {
			continue
		}
		x, y := c.xs.at(e.Value), c.y0()-8-above[e.Value]
		above[e.Value] += 14
		c.spot(x, y, fmt.Sprintf("%s, %s %s: edge", p.run, o.all.Axis, value(e.Value)), func() { c.path(shape(shapeCross, x, y, 4.5), "cut "+p.class) })
	}
}

// reach is from the least to the greatest figure of all.
func (o overlay) reach(m measure) (low, high float64) {
	low = math.Inf(1)
	for _, p := range o.parts {
		for i := range p.l.Rungs {
			if x := m.of(p.l, &p.l.Rungs[i]); x != nil {
				low, high = math.Min(low, *x), math.Max(high, *x)
			}
		}
	}
	return low, high
}
