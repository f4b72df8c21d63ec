package render

import (
	"fmt"
	"html/template"
	"math"

	"rung/results"
)

// streamPicture draws what streams show before their end.
func streamPicture(l *results.Ladder, f frame, id string) template.HTML {
	c := newChart(l, f, id)
	lines := []struct {
		class, shape, name string
		get                func(*results.Stream) *results.Latency
		of                 func(*results.Latency) float64
		p95                bool
	}{
		{"p95", shapeDiamond, "TTFT P95", firstToken, func(s *results.Latency) float64 { return s.P95S }, true},
		{"median", shapeCircle, "TTFT median", firstToken, func(s *results.Latency) float64 { return s.MedianS }, false},
		{"memory", shapeTriangle, "TPOT P95", perToken, func(s *results.Latency) float64 { return s.P95S }, true},
		{"mean", shapeSquare, "TPOT median", perToken, func(s *results.Latency) float64 { return s.MedianS }, false},
	}
	low, high := math.Inf(1), 0.0
	each := func(draw func(line int, r *results.Rung, s *results.Latency)) {
		for i, line := range lines {
			for k := range l.Rungs {
				if r := &l.Rungs[k]; r.Stream != nil && line.get(r.Stream) != nil && line.of(line.get(r.Stream)) > 0 {
					draw(i, r, line.get(r.Stream))
				}
			}
		}
	}
	each(func(i int, _ *results.Rung, s *results.Latency) {
		low, high = math.Min(low, lines[i].of(s)), math.Max(high, lines[i].of(s))
	})
	title, desc := fmt.Sprintf("Ladder %q: streams", l.Name), "Logarithmic. The figures are in the tables below."
	if high <= 0 {
		c.text((c.x0()+c.x1())/2, (c.y0()+c.y1())/2, "middle", "label", "no stream was measured")
		return template.HTML(c.picture(id, size(f), title, desc))
	}
	ys, ticks := logarithmic(low, high, c.y0(), c.y1())
	c.grid(ys, ticks, -1, "latency", "seconds (log scale)", span)
	c.marks()
	pts, titles, hollow := make([][]point, len(lines)), make([][]string, len(lines)), make([][]bool, len(lines))
	each(func(i int, r *results.Rung, s *results.Latency) {
		pts[i] = append(pts[i], point{c.xs.at(r.Value), ys.at(lines[i].of(s))})
		titles[i] = append(titles[i], fmt.Sprintf("%s %s: %s %s s, n %d", l.Axis, value(r.Value), lines[i].name, seconds(lines[i].of(s)), s.N))
		hollow[i] = append(hollow[i], lines[i].p95 && !s.P95Supported)
	})
	for i, line := range lines {
		c.path(polyline(pts[i]), "line "+line.class)
		c.dots(pts[i], line.shape, line.class, func(k int) bool { return hollow[i][k] }, func(k int) string { return titles[i][k] })
	}
	return template.HTML(c.picture(id, size(f), title, desc))
}

func firstToken(s *results.Stream) *results.Latency { return s.TTFT }
func perToken(s *results.Stream) *results.Latency   { return s.TPOT }
