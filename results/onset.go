package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"rung/results/rows"
	"rung/sinks/record"
	"rung/spec/plan"
)

// Onset is when one sign that a server has enough first showed in a ladder.
type Onset struct {
	What  string  `json:"what"`
	Value float64 `json:"value"` // of the rung
	TS    float64 `json:"t_s"`
}

// The signs.
const (
	signP95        = "P95 off the baseline"
	signMean       = "mean off the baseline"
	signWaiting    = "requests wait"
	signPreempted  = "preemption"
	signCeiling    = "memory at the ceiling"
	signOverloaded = "429 or 503"
)

// onsets are the signs in order of time; the first tells most of what gives way.
func (w *walked) onsets(b Baseline, m memory, page []reading) {
	var out []Onset
	add := func(what string, value, ts float64) {
		i := slices.IndexFunc(out, func(o Onset) bool { return o.What == what })
		switch {
		case i < 0:
			out = append(out, Onset{what, value, ts})
		case ts < out[i].TS:
			out[i].Value, out[i].TS = value, ts
		}
	}
	w.latenciesOff(b, add)
	for i := range w.out.Rungs {
		r := &w.out.Rungs[i]
		for _, a := range w.rows[r.Index] {
			for q := range a.rows.Failed() {
				if what := signOf(q); what != "" {
					add(what, r.Value, q.DoneTS)
				}
			}
		}
		w.pageSigns(r, page, add)
		w.ceilingSign(r, m, add)
	}
	slices.SortFunc(out, func(a, b Onset) int { return cmp.Or(cmp.Compare(a.TS, b.TS), cmp.Compare(a.What, b.What)) })
	w.out.Onsets = out
}

// latenciesOff says when a rung had first been walked whose P95, or mean, is over the
// declared multiple of the baseline's. Along lengths a rung is other work than the baseline's.
func (w *walked) latenciesOff(b Baseline, add func(string, float64, float64)) {
	ratio := w.rules.Knee.P95OverBaseline
	if w.plan.Axis == plan.AxisInputTokens || w.plan.Axis == plan.AxisOutputTokens || len(w.out.Rungs) == 0 || ratio <= 0 {
		return
	}
	base, _ := w.base(b)
	if base == nil {
		return
	}
	for i := range w.out.Rungs {
		r := &w.out.Rungs[i]
		if r.Latency == nil {
			continue
		}
		rows := w.rows[r.Index].in(record.Measure)
		known := rows.pass(rows[0].Pass).span().End
		if r.Latency.P95S > ratio*base.P95S {
			add(signP95, r.Value, known)
		}
		if r.Latency.MeanS > ratio*base.MeanS {
			add(signMean, r.Value, known)
		}
	}
}

// signOf names what a failure is a sign of; "" where it is none of these.
func signOf(q rows.Row) string {
	switch q.Outcome {
	case record.Overloaded, record.RateLimited, record.Unavailable:
		return signOverloaded
	case record.Timeout, record.OOM, record.Reset:
		if q.ResetIdle {
			return ""
		}
		return string(q.Outcome)
	default:
		return ""
	}
}

// pageSigns looks at the server's page in a rung's windows.
func (w *walked) pageSigns(r *Rung, page []reading, add func(string, float64, float64)) {
	for _, window := range w.windows(w.looked(r.Index), r.Index) {
		for _, x := range between(page, window.Begin, window.End) {
			if x.values[seriesWaiting] > 0 {
				add(signWaiting, r.Value, x.ts)
			}
			if x.values[seriesKVUsage] >= fullPool {
				add(signCeiling, r.Value, x.ts)
			}
		}
	}
	if g := r.Gauges; g != nil && g.Preemptions != nil && *g.Preemptions > 0 {
		add(signPreempted, r.Value, w.rows[r.Index].in(record.Measure).span().Begin)
	}
}

// ceilingSign looks at the card's memory while a rung was walked, where that follows the
// load.
func (w *walked) ceilingSign(r *Rung, m memory, add func(string, float64, float64)) {
	if m.upFront || m.total == nil || *m.total <= 0 {
		return
	}
	for _, s := range m.samples {
		if s.Ladder == w.plan.Name && s.Rung == r.Index && float64(*s.MemUsedBytes) >= ceiling*float64(*m.total) {
			add(signCeiling, r.Value, s.TS)
			return
		}
	}
}

// findOnsets says which sign came first, and what it points at where P95 left before the
// mean.
func (l *Ladder) findOnsets(say func(string, ...any)) {
	if len(l.Onsets) == 0 {
		return
	}
	o := l.Onsets[0]
	say("First sign: %s, at %g.", o.What, o.Value)
	p95, mid := l.onset(signP95), l.onset(signMean)
	if p95 < mid {
		later := "and the mean does not"
		if !math.IsInf(mid, 1) {
			later = fmt.Sprintf("and the mean only at %g", mid)
		}
		say("P95 leaves the baseline at %g, %s: that points at reclaim or paging.", p95, later)
	}
}

// onset is the rung of a sign; infinite without it.
func (l *Ladder) onset(what string) float64 {
	for _, o := range l.Onsets {
		if o.What == what {
			return o.Value
		}
	}
	return math.Inf(1)
}
