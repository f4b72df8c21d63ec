package results

import (
	"strings"

	"rung/sinks/record"
	"rung/spec/plan"
)

// pace is what the rules of slowness need to know of a rung, as the runner keeps it:
// over all passes, in the unit of what the API gives.
type pace struct {
	failures plan.Tally
	record.Yield
}

func (p *pace) add(attempts visits) {
	tally := attempts.tally()
	p.failures.Total += tally.Total
	p.failures.Failures += tally.Failures
	for name, n := range tally.ByName {
		if p.failures.ByName == nil {
			p.failures.ByName = map[string]int{}
		}
		p.failures.ByName[name] += n
	}
	for _, a := range attempts.counted() {
		p.Add(a.rows.Round(), func(i int) record.Gift { return a.rows.At(i).Gift() })
	}
}

// slowEdge is a rung that does not fail and is the edge all the same.
type slowEdge struct {
	rung   int // index; len(rungs) where there is none
	pass   int
	reason string
	few    bool // the P95 that it rests on is of too few requests
}

// slow walks the ladder once more as it was walked, round by round: what a rung is
// held against is what was known when its round ended, and not what later passes
// brought. single are the requests of the baseline.
func (w *walked) slow(api plan.API, single pace) slowEdge {
	stop, edge := w.plan.Stop, len(w.plan.Rungs)
	found := slowEdge{rung: edge}
	if stop.P95OverBaseline == nil && stop.ThroughputDrop == nil {
		return found
	}
	baseline, singles := single.P95(), len(single.Latencies)
	paces := make([]pace, len(w.plan.Rungs))
	for _, pass := range w.plan.Passes {
		for _, i := range pass.Order {
			if i < 0 || i >= edge {
				continue
			}
			for _, round := range w.rows[i].in(record.Measure).pass(pass.Index).rounds() {
				paces[i].add(round)
				if stop.Edge(paces[i].failures) != "" {
					edge = i
					break
				}
				if reason := w.tooSlow(paces, i, api, baseline); reason != "" {
					base := singles
					if base == 0 {
						base = len(paces[0].Latencies)
					}
					few := strings.Contains(reason, "P95") && min(len(paces[i].Latencies), base) < P95Needs
					edge, found = i, slowEdge{i, pass.Index, reason, few}
					break
				}
			}
		}
	}
	if found.rung > edge { // a later pass found a failure below it
		return slowEdge{rung: len(w.plan.Rungs)}
	}
	return found
}

func (w *walked) tooSlow(paces []pace, i int, api plan.API, baseline float64) string {
	if baseline == 0 {
		baseline = paces[0].P95()
	}
	best := 0.0
	for j := range i {
		best = max(best, paces[j].Throughput(api.Generates()))
	}
	p := &paces[i]
	return w.plan.Stop.Slow(plan.Pace{Done: len(p.Latencies), P95: p.P95(), BaselineP95: baseline, Throughput: p.Throughput(api.Generates()), BestBelow: best})
}

// rounds groups attempts by their round, in order.
func (v visits) rounds() []visits {
	var out []visits
	for i, a := range v {
		if i == 0 || a.Round != v[i-1].Round {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], a)
	}
	return out
}

// single is what the runner held rungs against: all single requests that succeeded,
// refused rounds' too.
func single(all visits) pace {
	return pace{Yield: record.Yield{Latencies: all.in(record.Baseline).latencies()}}
}
