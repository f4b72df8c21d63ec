package runner

import (
	"rung/sinks/record"
	"rung/spec/plan"
)

// tally is what the stop rules need to know of a rung, over all passes: the report
// pools them too.
type tally struct {
	failures plan.Tally
	record.Yield
}

// add takes over what a round brought.
func (t *tally) add(res result) {
	for _, row := range res.rows {
		if row.Outcome != record.Cancelled && !row.ResetIdle {
			t.failures.Add(string(row.Outcome), row.Failed(), 1)
		}
	}
	for _, rows := range res.counted {
		t.Add(record.RoundOf(rows), func(i int) record.Gift { return rows[i].Gift() })
	}
}

// slow says why a rung is the edge though it does not fail, or "".
func (w *walk) slow(i int, api plan.API, baseline float64) string {
	if w.l.Stop.P95OverBaseline == nil && w.l.Stop.ThroughputDrop == nil {
		return ""
	}
	t := &w.tallies[i]
	if baseline == 0 {
		baseline = w.tallies[0].P95()
	}
	best := 0.0
	for j := range i {
		best = max(best, w.tallies[j].Throughput(api.Generates()))
	}
	return w.l.Stop.Slow(plan.Pace{Done: len(t.Latencies), P95: t.P95(), BaselineP95: baseline, Throughput: t.Throughput(api.Generates()), BestBelow: best})
}
