package render

import (
	"fmt"
	"html/template"
	"math"

	"rung/results"
)

// rowHeight is that of one rung's histogram.
const rowHeight = 34.0

// mostRows bounds how many histograms are drawn; the others are in the table alone.
const mostRows = 24

// histogramPicture draws the latencies of a ladder's rungs on one axis; nil where they
// do not differ.
func histogramPicture(l *results.Ladder, id string) *picture {
	if l.Histogram == nil || len(l.Rungs) == 0 {
		return nil
	}
	p := &picture{
		Caption: "How the latencies of each rung are spread", Lines: []legend{{bandIcon("peaks throughput"), "counted successes; each rung's tallest bar is as high as its row"}},
		Wide:   drawHistograms(l, frame{w: 640, left: 62, right: 18, top: 12, bottom: 46, words: true}, id+"-h"),
		Narrow: drawHistograms(l, frame{w: 360, left: 50, right: 10, top: 10, bottom: 44}, id+"-hn"),
	}
	return p
}

func drawHistograms(l *results.Ladder, f frame, id string) template.HTML {
	h := l.Histogram
	n := min(len(l.Rungs), mostRows)
	f.h = f.top + float64(n)*rowHeight + f.bottom
	c := &canvas{w: f.w, h: f.h}
	xs, ticks := logarithmic(h.BoundsS[0], h.BoundsS[len(h.BoundsS)-1], f.x0(), f.x1())
	for _, v := range ticks {
		x := xs.at(v)
		c.line(x, f.top, x, f.y0(), "grid")
		c.text(x, f.y0()+17, "middle", "label", span(v))
	}
	for i := range n {
		base := f.top + float64(i+1)*rowHeight - 3
		c.histogram(l, i, xs, base)
		c.text(f.x0()-7, base-6, "end", "label", value(l.Rungs[i].Value))
	}
	c.text((f.x0()+f.x1())/2, f.h-8, "middle", "axis", "latency (log scale)")
	desc := fmt.Sprintf("%d rungs, one row each. The percentiles are in the table below.", n)
	return template.HTML(c.picture(id, size(f), fmt.Sprintf("Ladder %q: how the latencies of each rung are spread", l.Name), desc))
}

// histogram draws one rung's row, with its median and P95.
func (c *canvas) histogram(l *results.Ladder, i int, xs scale, base float64) {
	h, r := l.Histogram, l.Rungs[i]
	most := 0
	for _, k := range h.Rungs[i] {
		most = max(most, k)
	}
	c.line(xs.from, base, xs.to, base, "grid")
	if most == 0 || r.Latency == nil {
		c.text(xs.from+6, base-6, "start", "label", "no counted success")
		return
	}
	c.add(`<g class="spot"><title>%s</title>`, template.HTMLEscapeString(safe(latencyTitle(l, &l.Rungs[i]))))
	for b, k := range h.Rungs[i] {
		if k > 0 {
			from, to := xs.at(h.BoundsS[b]), xs.at(h.BoundsS[b+1])
			tall := math.Max(1, float64(k)/float64(most)*(rowHeight-8))
			c.rect(from, base-tall, to-from, tall, "peaks throughput")
		}
	}
	for _, at := range []struct {
		s     float64
		class string
	}{{r.Latency.MedianS, "line median"}, {r.Latency.P95S, "line p95"}} {
		c.line(xs.at(at.s), base, xs.at(at.s), base-rowHeight+6, at.class)
	}
	c.add(`</g>`)
}
