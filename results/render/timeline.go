package render

import (
	"fmt"
	"html/template"
	"math"

	"rung/results"
)

// panel is one strip of the timeline: lines that share an axis.
type panel struct {
	name, unit string
	lines      []string // series, by their names
	scale      float64  // by which values are divided
	full       float64  // the axis' end; 0: by the values
	top        *int64   // a level, in the series' unit
}

func panels(rep *results.Report) []panel {
	return []panel{
		{name: "memory, GiB", unit: "GiB", lines: []string{results.LineMemory}, scale: 1 << 30, top: rep.Memory.TotalBytes},
		{name: "utilisation, %", unit: "%", lines: []string{results.LineUtil, results.LinePool}, scale: 1, full: 100},
		{name: "SM clock, MHz", unit: "MHz", lines: []string{results.LineClock}, scale: 1},
		{name: "requests", unit: "", lines: []string{results.LineInFlight, results.LineRunning, results.LineWaiting}, scale: 1},
	}
}

// looks are how the series are drawn, wherever they are.
func lookOfLine(name string) string {
	return map[string]string{
		results.LineMemory: "memory", results.LineUtil: "throughput", results.LinePool: "p95", results.LineClock: "mean",
		results.LineInFlight: "offered", results.LineRunning: "throughput", results.LineWaiting: "p95",
	}[name]
}

const (
	stripHeight = 78.0
	stripGap    = 24.0 // has the strip's name above it
)

// timelinePicture draws the run over its time; nil without one.
func timelinePicture(rep *results.Report) *picture {
	t := rep.Timeline
	if t == nil || len(t.Series) == 0 {
		return nil
	}
	p := &picture{Caption: "The run over its time"}
	wide, narrow := frame{w: 1180, left: 62, right: 14, top: 34, bottom: 30, words: true}, frame{w: 360, left: 46, right: 8, top: 30, bottom: 28}
	p.Wide, p.Narrow = drawTimeline(rep, wide, "timeline"), drawTimeline(rep, narrow, "timeline-n")
	for _, strip := range panels(rep) {
		for _, s := range strip.of(t) {
			name := s.Name
			if len(strip.of(t)) > 1 {
				name = strip.name + ": " + s.Name
			}
			p.Lines = append(p.Lines, legend{bandIcon("peaks " + lookOfLine(s.Name)), name})
		}
	}
	if len(t.Failures) > 0 {
		p.Lines = append(p.Lines, legend{icon("mark-edge", shapeCross), "failed requests"})
	}
	return p
}

// drawTimeline stacks the panels that have something to show.
func drawTimeline(rep *results.Report, f frame, id string) template.HTML {
	t := rep.Timeline
	var shown []panel
	for _, p := range panels(rep) {
		if len(p.of(t)) > 0 {
			shown = append(shown, p)
		}
	}
	f.h = f.top + float64(len(shown))*(stripHeight+stripGap) + f.bottom
	c := &canvas{w: f.w, h: f.h}
	end := t.BeginS + t.BucketS*float64(len(t.Series[0].High))
	xs := scale{t.BeginS, end, f.x0(), f.x1(), false}
	c.spans(t, xs, f)
	for i, p := range shown {
		y := f.top + float64(i)*(stripHeight+stripGap) + stripGap
		c.strip(t, p, xs, y, y+stripHeight)
	}
	c.ticks(t, xs, f)
	_, ticks := linear(end-t.BeginS, 0, 1)
	for _, v := range ticks {
		if v <= end-t.BeginS {
			x := xs.at(t.BeginS + v)
			c.line(x, f.y0(), x, f.y0()+4, "tick")
			c.text(x, f.y0()+17, "middle", "label", short1(v)+" s")
		}
	}
	return template.HTML(c.picture(id, size(f), "The run over its time", "Memory, utilisation, clocks and requests over the run, thinned to the least and the greatest value of each bucket; rungs are shaded."))
}

// of are the panel's series that the run has.
func (p panel) of(t *results.Timeline) []results.Series {
	var out []results.Series
	for _, name := range p.lines {
		for _, s := range t.Series {
			if s.Name == name {
				out = append(out, s)
			}
		}
	}
	return out
}

// spans shades the rungs, every second one, and names what is wide enough.
func (c *canvas) spans(t *results.Timeline, xs scale, f frame) {
	for i, s := range t.Spans {
		from, to := xs.at(s.Begin), xs.at(s.End)
		name, short := fmt.Sprintf("ladder %q at %s, pass %d", s.Ladder, value(s.Value), s.Pass+1), value(s.Value)
		if s.Phase != "" {
			name, short = string(s.Phase), string(s.Phase)
		}
		c.add(`<g class="spot"><title>%s</title>`, template.HTMLEscapeString(safe(fmt.Sprintf("%s: %.1f to %.1f s", name, s.Begin, s.End))))
		c.rect(from, f.top-4, to-from, f.y0()-f.top+4, fmt.Sprintf("span span-%d", i%2))
		if to-from >= 7*float64(len(short)) {
			c.text((from+to)/2, f.top-10, "middle", "label", short)
		}
		c.add(`</g>`)
	}
}

// strip draws a panel's series as the reach of each bucket.
func (c *canvas) strip(t *results.Timeline, p panel, xs scale, top, bottom float64) {
	most := p.full
	for _, s := range p.of(t) {
		for _, v := range s.High {
			if v != nil && p.full == 0 {
				most = math.Max(most, *v/p.scale)
			}
		}
	}
	if p.top != nil && float64(*p.top)/p.scale < 4*most {
		most = math.Max(most, float64(*p.top)/p.scale)
	}
	ys, ticks := linear(most, bottom, top)
	for i, v := range ticks {
		c.line(xs.from, ys.at(v), xs.to, ys.at(v), "grid")
		if i == 0 || i == len(ticks)-1 {
			c.text(xs.from-6, ys.at(v)+4, "end", "label", short1(v))
		}
	}
	c.text(xs.from+4, top-6, "start", "label strip-name", p.name)
	if p.top != nil && float64(*p.top)/p.scale <= most {
		c.line(xs.from, ys.at(float64(*p.top)/p.scale), xs.to, ys.at(float64(*p.top)/p.scale), "level memory")
	}
	for _, s := range p.of(t) {
		c.reach(t, s, p.scale, xs, ys)
	}
}

// reach draws from the least to the greatest of each bucket; neighbours that were read
// are joined.
func (c *canvas) reach(t *results.Timeline, s results.Series, by float64, xs, ys scale) {
	var upper, lower []point
	flush := func() {
		if len(upper) > 0 {
			c.path(band(upper, lower), "peaks "+lookOfLine(s.Name))
		}
		upper, lower = nil, nil
	}
	gap := 0
	for i, high := range s.High {
		if high == nil {
			if gap++; gap > 5 { // read less often than a bucket is long is no gap
				flush()
			}
			continue
		}
		gap = 0
		x := xs.at(t.BeginS + (float64(i)+0.5)*t.BucketS)
		upper = append(upper, point{x, ys.at(*high/by) - 0.6})
		lower = append(lower, point{x, ys.at(*s.Low[i]/by) + 0.6})
	}
	flush()
}

// ticks marks the buckets in which requests failed.
func (c *canvas) ticks(t *results.Timeline, xs scale, f frame) {
	for i, n := range t.Failures {
		if n == 0 {
			continue
		}
		x := xs.at(t.BeginS + (float64(i)+0.5)*t.BucketS)
		c.spot(x, f.y0()-4, fmt.Sprintf("%s failed at %.1f s", plural(n, "request", "requests"), t.BeginS+(float64(i)+0.5)*t.BucketS), func() {
			c.path(shape(shapeCross, x, f.y0()-4, 3.5), "mark-edge")
		})
	}
}
