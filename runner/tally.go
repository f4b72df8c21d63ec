package runner

import (
	"slices"

	"rung/sinks/record"
	"rung/spec/plan"
)

// tally is what the stop rules need to know of a rung, over all passes: the report
// pools them too.
type tally struct {
	failures  plan.Tally
	latencies []float64 // of the successes that count
	inputs    record.Flow
	tokens    record.Flow
	requests  record.Flow
	uncounted bool // some success has no count of output tokens
}

// add takes over what a round brought.
func (t *tally) add(res result) {
	for _, row := range res.rows {
		if row.Outcome != record.Cancelled && !row.ResetIdle {
			t.failures.Add(string(row.Outcome), row.Failed())
		}
	}
	for _, rows := range res.counted {
		t.inputs.Add(rows, func(r record.Request) float64 { return float64(r.InputsDone) })
		t.requests.Add(rows, func(record.Request) float64 { return 1 })
		t.tokens.Add(rows, func(r record.Request) float64 {
			if r.OutputTokens == nil {
				t.uncounted = true
				return 0
			}
			return float64(*r.OutputTokens)
		})
		t.latencies = append(t.latencies, latencies(rows)...)
	}
}

// p95 is that of the rung's latency; 0 where nothing succeeded.
func (t *tally) p95() float64 {
	if len(t.latencies) == 0 {
		return 0
	}
	slices.Sort(t.latencies)
	return record.Quantile(t.latencies, 0.95)
}

// throughput is the rung's, in the unit that its axis has.
func (t *tally) throughput(api plan.API) float64 {
	switch {
	case !api.Generates():
		return t.inputs.Rate()
	case t.uncounted:
		return t.requests.Rate()
	default:
		return t.tokens.Rate()
	}
}

// slow says why a rung is the edge though it does not fail, or "".
func (w *walk) slow(i int, api plan.API, baseline float64) string {
	if w.l.Stop.P95OverBaseline == nil && w.l.Stop.ThroughputDrop == nil {
		return ""
	}
	t := &w.tallies[i]
	if baseline == 0 {
		baseline = w.tallies[0].p95()
	}
	best := 0.0
	for j := range i {
		best = max(best, w.tallies[j].throughput(api))
	}
	return w.l.Stop.Slow(plan.Pace{Done: len(t.latencies), P95: t.p95(), BaselineP95: baseline, Throughput: t.throughput(api), BestBelow: best})
}
