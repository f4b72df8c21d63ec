package results

import (
	"fmt"
	"math"

	"rung/spec/plan"
)

// Pool is the memory for tokens that a server took up front, by its own gauge: what is
// in use of the card says nothing of it.
type Pool struct {
	UsageMost float64 `json:"usage_most"` // at the limits: the greatest over engines and readings, from 0 to 1
	Free      float64 `json:"free"`       // 1 - usage_most
	At        string  `json:"at"`         // ladder and rung
	Readings  int     `json:"readings"`   // in that rung's windows

	Tokens *float64 `json:"tokens,omitempty"` // that the pool holds, as the server says
	// Capacity is how many of the concurrency ladder's requests the pool holds at once:
	// the lesser of what its tokens give and of a line through the usage of the rungs
	// below 0.9. nil where neither is known.
	Capacity   *float64 `json:"capacity,omitempty"`
	CapacityBy string   `json:"capacity_by,omitempty"`
}

// mostLine bounds the usage at the rungs that a line to the pool's end is
// put through: nearer to it sequences are pushed out, and usage no longer follows.
const mostLine = 0.9

// pooled says that some rung's gauge of the pool was above 0. That of a model without
// such memory stays at 0 and says nothing.
func pooled(ladders []*walked) bool {
	for _, w := range ladders {
		for _, r := range w.out.Rungs {
			if r.Gauges != nil && r.Gauges.KVUsageMost != nil && *r.Gauges.KVUsageMost > 0 {
				return true
			}
		}
	}
	return false
}

// pool is what stays free of the pool at the limits of load; nil where no reading fell
// into a rung at a limit.
func pool(ladders []*walked, page []reading) *Pool {
	var out *Pool
	for _, w := range bearing(ladders) {
		r := w.out.at(w.out.Limit.Value)
		if r == nil || r.Gauges == nil || r.Gauges.KVUsageMost == nil {
			continue
		}
		if most := *r.Gauges.KVUsageMost; out == nil || most > out.UsageMost {
			out = &Pool{UsageMost: most, Free: max(0, 1-most), At: shown(w, r), Readings: r.Gauges.Readings}
		}
	}
	if out == nil {
		return nil
	}
	for _, x := range page {
		if n, ok := x.get(seriesKVTokens); ok {
			out.Tokens = &n
		}
	}
	for _, w := range ladders {
		if w.plan.Axis == plan.AxisConcurrency && out.Capacity == nil {
			out.capacity(w)
		}
	}
	return out
}

// capacity is how many requests of a ladder the pool holds.
func (p *Pool) capacity(w *walked) {
	if n, ok := w.poolLine(); ok {
		p.Capacity, p.CapacityBy = &n, fmt.Sprintf("by a line through the rungs of ladder %q with less than %g %% in use", w.plan.Name, 100*mostLine)
	}
	if p.Tokens == nil || len(w.out.Rungs) == 0 {
		return
	}
	s := w.out.Rungs[0].Shape
	each := float64(s.Batch * (s.InputTokens + s.OutputTokens))
	if each <= 0 {
		return
	}
	if n := math.Floor(*p.Tokens / each); p.Capacity == nil || n < *p.Capacity {
		p.Capacity, p.CapacityBy = &n, fmt.Sprintf("its %.0f tokens over the %.0f of a request of ladder %q", *p.Tokens, each, w.plan.Name)
	}
}

// poolLine is the number of requests at which the usage of the pool would reach 1,
// along a line through the rungs that use less than 0.9: against those that ran at
// once, where the server tells, for one that waits takes nothing.
func (w *walked) poolLine() (load float64, ok bool) {
	var x, y []float64
	for _, r := range w.out.Rungs {
		g := r.Gauges
		if r.Index >= w.edge || g == nil || g.KVUsageMost == nil || *g.KVUsageMost <= 0 || *g.KVUsageMost >= mostLine {
			continue
		}
		load := r.Value
		if g.RunningMost != nil {
			load = *g.RunningMost
		}
		if len(x) == 0 || load > x[len(x)-1] {
			x, y = append(x, load), append(y, *g.KVUsageMost)
		}
	}
	l, ok := fit(x, y)
	if !ok || l.slope <= 0 {
		return 0, false
	}
	at := (mean(x)*l.slope + 1 - mean(y)) / l.slope
	return math.Floor(at + 1e-9), finite(at) != nil && at >= 1
}
