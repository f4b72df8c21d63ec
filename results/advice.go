package results

import (
	"fmt"

	"rung/sinks/record"
	"rung/spec/plan"
)

// atCap is the share of the server's batches in their fullest bucket from which they are
// at their cap.
const atCap = 0.5

// advise puts into sentences what to do beside the limit. None of it is emitted as a
// setting.
func (w *walked) advise(m memory, ladders []*walked, rules plan.Analysis) {
	l := w.out
	say := func(format string, args ...any) { l.Findings = append(l.Findings, fmt.Sprintf(format, args...)) }
	r := l.binds()
	if r == nil {
		return
	}
	for _, f := range w.facts {
		if f.r == r && w.plan.Axis == plan.AxisConcurrency && f.below != nil && f.flatMemory() && f.elasticity() >= linear {
			say("Up to %g memory stands still while the latency grows with the concurrency: lower the concurrency and the timeouts, not the batch.", r.Value)
		}
	}
	if n := w.sequences(m, ladders, rules.Headroom); n != nil {
		say("Memory is at its ceiling from the first rungs on: lower the number of sequences to %g, the largest batch that leaves the declared reserve (advice, and no setting that is emitted).", *n)
	}
	if g := r.Gauges; g != nil && g.AtCapShare != nil && *g.AtCapShare >= atCap && r.Latency != nil && r.Latency.P95S > rules.BaselineCheck.Interference*r.Latency.MedianS {
		say("At %g the server's batches are at their cap (%s of them) while the latency jitters (P95 is %.1f times the median): lower the cap.",
			r.Value, percent(*g.AtCapShare), r.Latency.P95S/r.Latency.MedianS)
	}
}

// sequences is the largest rung of a batch ladder that leaves the declared reserve,
// where a concurrency ladder finds the memory full at once; nil otherwise.
func (w *walked) sequences(m memory, ladders []*walked, h plan.Headroom) *float64 {
	if w.plan.Axis != plan.AxisConcurrency || m.upFront || m.total == nil || m.reason != "" || unsoundHeadroom(h) != "" || !w.fullAtOnce(m) {
		return nil
	}
	total := float64(*m.total)
	rm := room{total: total, reserved: float64(m.reserved()), safety: h.Safety * total, rungs: h.ReserveRungs}
	var out *float64
	for _, b := range ladders {
		if b.plan.Axis != plan.AxisBatch {
			continue
		}
		for i := range b.out.Rungs {
			r := &b.out.Rungs[i]
			if peak, reserve, _, ok := m.need(b, r, rm); ok && r.Index < b.edge && rm.total-rm.reserved-rm.safety-peak-reserve >= 0 {
				out = &r.Value
			}
		}
	}
	return out
}

// earlyRungs is how many rungs are "at once".
const earlyRungs = 2

// fullAtOnce says that one of the first rungs ran out of memory, or about did.
func (w *walked) fullAtOnce(m memory) bool {
	for i := range w.out.Rungs {
		r := &w.out.Rungs[i]
		if r.Index >= earlyRungs {
			return false
		}
		if r.Memory != nil && float64(r.Memory.PeakBytes) >= ceiling*float64(*m.total) {
			return true
		}
		for _, f := range r.Failures {
			if record.Outcome(f.Name) == record.OOM && r.Failed != "" {
				return true
			}
		}
	}
	return false
}
