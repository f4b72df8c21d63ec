package render

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"rung/results"
)

// picture is one figure of the page: a caption, the drawings for wide and narrow
// pages, and what its lines are.
type picture struct {
	Caption string
	Wide    template.HTML
	Narrow  template.HTML
	Lines   []legend
	Marks   []legend
}

type legend struct {
	Icon template.HTML
	Name string
}

// pictures are the two of a ladder.
func pictures(rep *results.Report, l *results.Ladder, id string) []picture {
	memory := rep.Memory.Reason == ""
	wide, narrow := wideFrame(), narrowFrame()
	if !memory {
		wide, narrow = wide.oneAxis(), narrow.oneAxis()
	}
	caption := "Throughput against " + axisHead(l.Axis)
	if memory {
		caption = "Throughput and peak memory against " + axisHead(l.Axis)
	}
	lines := []legend{{lineIcon("throughput", shapeCircle), "throughput, " + l.Unit + "; bar: reach over the passes; hollow: beside failures"}}
	if l.Capacity != nil {
		caption = strings.Replace(caption, "Throughput", "Answers a second", 1)
		lines = []legend{{lineIcon("throughput", shapeCircle), "achieved, requests/s; hollow: beside failures, or saturated"}, {lineIcon("offered", shapeDiamond), "offered, requests/s"}}
	}
	if memory {
		lines = append(lines, legend{lineIcon("memory", shapeTriangle), "peak memory (right); hollow: after high water"})
	}
	out := []picture{
		{
			Caption: caption,
			Wide:    throughputPicture(rep, l, wide, id+"-x"), Narrow: throughputPicture(rep, l, narrow, id+"-xn"),
			Lines: lines, Marks: markLegend(l),
		},
		{
			Caption: "Latency against " + axisHead(l.Axis),
			Wide:    latencyPicture(rep, l, wideFrame().oneAxis(), id+"-l"), Narrow: latencyPicture(rep, l, narrowFrame().oneAxis(), id+"-ln"),
			Lines: []legend{
				{lineIcon("p95", shapeDiamond), "P95; hollow: on fewer than 59 requests"}, {lineIcon("mean", shapeSquare), "mean"},
				{lineIcon("median", shapeCircle), "median"}, {bandIcon("reach"), "minimum to maximum"},
			},
			Marks: markLegend(l),
		},
	}
	if len(streamTables(l)) > 0 {
		out = append(out, picture{
			Caption: "Time to first token and per output token against " + axisHead(l.Axis),
			Wide:    streamPicture(l, wideFrame().oneAxis(), id+"-s"), Narrow: streamPicture(l, narrowFrame().oneAxis(), id+"-sn"),
			Lines: []legend{
				{lineIcon("p95", shapeDiamond), "TTFT, P95; hollow: on fewer than 59 requests"}, {lineIcon("median", shapeCircle), "TTFT, median"},
				{lineIcon("memory", shapeTriangle), "TPOT, P95"}, {lineIcon("mean", shapeSquare), "TPOT, median"},
			},
			Marks: markLegend(l),
		})
	}
	return out
}

// drawn is the figure that a ladder's first picture shows, and its unit.
func drawn(l *results.Ladder, r *results.Rung) (x *float64, unit string) {
	if l.Capacity == nil {
		return r.Throughput, l.Unit
	}
	if r.Open == nil {
		return nil, "requests/s"
	}
	return &r.Open.DonePerS, "requests/s"
}

// offered draws what was due beside what was achieved.
func (c *chart) offered(ys scale) {
	var pts []point
	var at []*results.Rung
	for i := range c.l.Rungs {
		if r := &c.l.Rungs[i]; r.Open != nil {
			pts, at = append(pts, point{c.xs.at(r.Value), ys.at(r.Open.OfferedPerS)}), append(at, r)
		}
	}
	c.path(polyline(pts), "line offered")
	c.dots(pts, shapeDiamond, "offered", nil, func(i int) string {
		o := at[i].Open
		return fmt.Sprintf("%s %s: offered %s requests/s, %d dropped", c.l.Axis, value(at[i].Value), digits(o.OfferedPerS), o.Dropped)
	})
}

// markLegend names the marks that a ladder has.
func markLegend(l *results.Ladder) []legend {
	has := map[results.Mark]bool{}
	for _, r := range l.Rungs {
		for _, m := range r.Marks {
			has[m] = true
		}
	}
	var out []legend
	for _, look := range markLooks() {
		if has[look.mark] {
			out = append(out, legend{glyph(look.mark), string(look.mark)})
		}
	}
	return out
}

func throughputPicture(rep *results.Report, l *results.Ladder, f frame, id string) template.HTML {
	c := newChart(l, f, id)
	most, unit := 0.0, l.Unit
	for i := range l.Rungs {
		r := &l.Rungs[i]
		var x *float64
		if x, unit = drawn(l, r); x != nil {
			most = math.Max(most, *x)
		}
		if r.Open != nil {
			most = math.Max(most, r.Open.OfferedPerS)
			continue
		}
		for _, x := range r.ThroughputByPass {
			if x != nil {
				most = math.Max(most, *x)
			}
		}
	}
	ys, ticks := linear(most, c.y0(), c.y1())
	c.grid(ys, ticks, -1, "throughput", unit, short1)
	c.memory(rep)
	c.marks()
	pts := make([]point, len(l.Rungs))
	for i := range l.Rungs {
		r := &l.Rungs[i]
		pts[i] = point{c.xs.at(r.Value), math.NaN()}
		if x, _ := drawn(l, r); x != nil {
			pts[i].y = ys.at(*x)
		}
	}
	c.path(polyline(trend(l, pts)), "line throughput")
	if l.Capacity != nil {
		c.offered(ys)
	}
	for i, r := range l.Rungs {
		if low, high, ok := reach(r.ThroughputByPass); ok && l.Capacity == nil {
			c.line(pts[i].x, ys.at(low), pts[i].x, ys.at(high), "whisker throughput")
		}
	}
	c.dots(pts, shapeCircle, "throughput", func(i int) bool { return doubtful(&l.Rungs[i]) },
		func(i int) string { return throughputTitle(l, &l.Rungs[i]) })
	desc := fmt.Sprintf("%d rungs. The figures are in the table below.", len(l.Rungs))
	return template.HTML(c.picture(id, size(f), fmt.Sprintf("Ladder %q: throughput and peak memory", l.Name), desc))
}

// trend are the points of a ladder's rungs that a line joins: what an edge did beside its
// failures is a point, not a trend.
func trend(l *results.Ladder, pts []point) []point {
	if n := len(pts); l.Edge != nil && n > 0 && l.Rungs[n-1].Failed != "" {
		return pts[:n-1]
	}
	return pts
}

// doubtful says that a rung's figure stands beside something that takes from it.
func doubtful(r *results.Rung) bool {
	return r.Failed != "" || r.ClientLimited || r.Open != nil && r.Open.Saturated
}

func size(f frame) string {
	if f.words {
		return "chart wide"
	}
	return "chart narrow"
}

func reach(xs []*float64) (low, high float64, ok bool) {
	low, high = math.Inf(1), math.Inf(-1)
	n := 0
	for _, x := range xs {
		if x != nil {
			low, high = math.Min(low, *x), math.Max(high, *x)
			n++
		}
	}
	return low, high, n > 1
}

func throughputTitle(l *results.Ladder, r *results.Rung) string {
	x, unit := drawn(l, r)
	s := fmt.Sprintf("%s %s: %s %s", l.Axis, value(r.Value), rate(x), unit)
	if r.Open != nil {
		s += fmt.Sprintf(" of %s offered, %s %s", digits(r.Open.OfferedPerS), rate(r.Throughput), l.Unit)
	}
	if low, high, ok := reach(r.ThroughputByPass); ok {
		s += fmt.Sprintf(", %s to %s over the passes", digits(low), digits(high))
	}
	if r.Latency != nil {
		s += fmt.Sprintf(", n %d", r.Latency.N)
	}
	if r.Increment != nil {
		s += ", " + percent(r.Increment.Relative) + " over the rung below"
	}
	if r.Failed != "" {
		s += "; fails: " + r.Failed
	}
	if r.Slow != "" {
		s += "; " + r.Slow
	}
	if r.ClientLimited {
		s += "; client_limited"
	}
	return s
}

// short1 is a tick's figure.
func short1(v float64) string {
	if v >= 10000 {
		return fmt.Sprintf("%gk", v/1000)
	}
	return fmt.Sprintf("%g", v)
}

// leastShare is the share of the total below which a peak would be a line along
// the bottom: then the axis ends above the peak, and the total is named in words.
const leastShare = 0.25

// memory draws the peaks on the right axis, with what is idle and what there is.
func (c *chart) memory(rep *results.Report) {
	var most int64
	for _, r := range c.l.Rungs {
		if r.Memory != nil {
			most = max(most, r.Memory.PeakBytes)
		}
	}
	if most == 0 {
		return
	}
	const unit = 1 << 30
	top, total := float64(most)/unit, rep.Memory.TotalBytes
	inside := total != nil && float64(most) >= leastShare*float64(*total)
	if inside {
		top = math.Max(top, float64(*total)/unit)
	}
	ms, ticks := linear(top, c.y0(), c.y1())
	c.grid(ms, ticks, 1, "memory", "GiB", short1)
	switch {
	case inside:
		c.level(ms.at(float64(*total)/unit), "memory", "total "+bytes(*total), false)
	case total != nil:
		c.text(c.x1()-4, c.y1()+14, "end", "level-name memory", "total "+bytes(*total)+", above the axis")
	}
	if idle := rep.Baseline.IdleBytes; idle != nil {
		c.level(ms.at(float64(*idle)/unit), "memory", "idle "+bytes(*idle), true)
	}
	pts := make([]point, len(c.l.Rungs))
	for i, r := range c.l.Rungs {
		pts[i] = point{c.xs.at(r.Value), math.NaN()}
		if r.Memory != nil {
			pts[i].y = ms.at(float64(r.Memory.PeakBytes) / unit)
		}
	}
	c.path(polyline(pts), "line memory")
	c.dots(pts, shapeTriangle, "memory", func(i int) bool { return c.l.Rungs[i].Memory.AfterHighWater }, func(i int) string {
		r := c.l.Rungs[i]
		s := fmt.Sprintf("%s %s: peak %s GiB on the first walk up, %s", c.l.Axis, value(r.Value), gib(r.Memory.PeakBytes), plural(r.Memory.Samples, "sample", "samples"))
		if r.Memory.OverIdleBytes != nil {
			s += ", " + signed(r.Memory.OverIdleBytes) + " GiB over idle"
		}
		if r.Memory.AfterHighWater {
			s += "; after high water"
		}
		return s
	})
}

func latencyPicture(rep *results.Report, l *results.Ladder, f frame, id string) template.HTML {
	c := newChart(l, f, id)
	low, high := math.Inf(1), 0.0
	for _, r := range l.Rungs {
		if s := r.Latency; s != nil {
			low, high = math.Min(low, s.MinS), math.Max(high, s.MaxS)
		}
	}
	base := rep.Baseline.Latency
	if high > 0 && base != nil {
		low, high = math.Min(low, base.MedianS), math.Max(high, base.MedianS)
	}
	desc := fmt.Sprintf("%d rungs, logarithmic. The figures are in the table below.", len(l.Rungs))
	title := fmt.Sprintf("Ladder %q: latency", l.Name)
	if high <= 0 || low <= 0 {
		c.text((c.x0()+c.x1())/2, (c.y0()+c.y1())/2, "middle", "label", "no latency was measured")
		return template.HTML(c.picture(id, size(f), title, desc))
	}
	ys, ticks := logarithmic(low, high, c.y0(), c.y1())
	c.grid(ys, ticks, -1, "latency", "latency (log scale)", span)
	c.marks()
	series := func(get func(*results.Latency) float64) []point {
		pts := make([]point, 0, len(l.Rungs))
		for _, r := range l.Rungs {
			if r.Latency != nil {
				pts = append(pts, point{c.xs.at(r.Value), ys.at(get(r.Latency))})
			}
		}
		return pts
	}
	shown := withLatency(l)
	c.path(band(series(func(s *results.Latency) float64 { return s.MaxS }), series(func(s *results.Latency) float64 { return s.MinS })), "reach")
	if base != nil {
		c.level(ys.at(base.MedianS), "baseline", "baseline median "+span(base.MedianS), true)
	}
	p95, avg, mid := series(func(s *results.Latency) float64 { return s.P95S }), series(func(s *results.Latency) float64 { return s.MeanS }), series(func(s *results.Latency) float64 { return s.MedianS })
	c.path(polyline(p95), "line p95")
	c.path(polyline(avg), "line mean")
	c.path(polyline(mid), "line median")
	all := func(i int) string { return latencyTitle(l, shown[i]) }
	c.dots(avg, shapeSquare, "mean", nil, all)
	c.dots(mid, shapeCircle, "median", nil, all)
	c.dots(p95, shapeDiamond, "p95", func(i int) bool { return !shown[i].Latency.P95Supported }, all)
	return template.HTML(c.picture(id, size(f), title, desc))
}

func withLatency(l *results.Ladder) []*results.Rung {
	var out []*results.Rung
	for i := range l.Rungs {
		if l.Rungs[i].Latency != nil {
			out = append(out, &l.Rungs[i])
		}
	}
	return out
}

func latencyTitle(l *results.Ladder, r *results.Rung) string {
	s := r.Latency
	t := fmt.Sprintf("%s %s: P99 %s s, P95 %s s, mean %s s, median %s s, %s to %s s, n %d",
		l.Axis, value(r.Value), seconds(s.P99S), seconds(s.P95S), seconds(s.MeanS), seconds(s.MedianS), seconds(s.MinS), seconds(s.MaxS), s.N)
	if s.P95In != nil {
		t += fmt.Sprintf(", P95 within %s s at 95 %%", interval(s.P95In))
	}
	switch {
	case !s.P95Supported:
		t += fmt.Sprintf(" (P95 needs %d, P99 %d)", results.P95Needs, results.P99Needs)
	case !s.P99Supported:
		t += fmt.Sprintf(" (P99 needs %d)", results.P99Needs)
	}
	return t
}
