package results_test

import (
	"strings"
	"testing"

	"rung/results"
	"rung/results/resultstest"
	"rung/sinks/record"
	"rung/spec/plan"
)

// slowly is a ladder whose rounds take longer with each rung, over three passes.
func slowly(stop func(*plan.Stop)) resultstest.Options {
	l := resultstest.Ladder("batch", plan.AxisBatch, 3, 4, 20, 1, 2, 4, 8, 16, 32)
	stop(&l.Stop)
	return resultstest.Options{NoGPU: true, Ladders: []plan.Ladder{l}, Noise: 0.1}
}

// The report finds in the rows the edge that the runner found while it walked, in the
// same words.
func TestSlowEdgeIsTheRunners(t *testing.T) {
	drop := slowly(func(s *plan.Stop) { s.ThroughputDrop, s.MinRequests = new(0.3), 20 })
	drop.Service = func(s plan.Shape) float64 {
		return map[bool]float64{true: 0.01, false: 0.2}[s.Batch <= 8]
	}
	for name, o := range map[string]resultstest.Options{
		"p95":        slowly(func(s *plan.Stop) { s.P95OverBaseline, s.MinRequests = new(1.7), 20 }),
		"p95, close": slowly(func(s *plan.Stop) { s.P95OverBaseline, s.MinRequests = new(1.55), 20 }),
		"throughput": drop,
	} {
		t.Run(name, func(t *testing.T) {
			r := o.Run()
			var want record.Event
			for _, e := range r.Events {
				if e.Kind == record.EdgeFound {
					want = e
				}
			}
			rep := report(r)
			l := rep.Ladders[0]
			e := l.Edge
			if e == nil || e.Kind != results.EdgeSlow || e.Value != want.Value || e.Reason != want.Reason || e.Pass != want.Pass || e.Confirmed != "no failure" {
				t.Fatalf("edge %+v, the runner's was %g in pass %d: %s", e, want.Value, want.Pass, want.Reason)
			}
			if l.Boundary == nil || *l.Boundary != l.Rungs[e.Index-1].Value || l.Rungs[e.Index].Failed != "" || l.Rungs[e.Index].Slow == "" {
				t.Errorf("boundary %v, rung %+v", l.Boundary, l.Rungs[e.Index])
			}
			has(t, "verdict", rep.Verdict, "is too slow: ", "no failure")
			if strings.Contains(rep.Verdict, " fails") || strings.Contains(asJSON(t, rep), "failures began") {
				t.Error("a slow rung is said to fail: ", rep.Verdict)
			}
		})
	}
}

// What later passes brought to the rungs below is not what the runner knew.
func TestSlowEdgeIsJudgedAsItWasWalked(t *testing.T) {
	o := slowly(func(s *plan.Stop) { s.ThroughputDrop, s.MinRequests = new(0.3), 20 })
	r := o.Run()
	for i := range r.Requests { // twice as fast in the later passes
		if q := &r.Requests[i]; q.Phase == record.Measure && q.Pass > 0 && q.Value <= 8 {
			q.DoneTS = q.SentTS + (q.DoneTS-q.SentTS)/2
		}
	}
	if e := report(r).Ladders[0].Edge; e != nil {
		t.Errorf("edge %+v, which the first walk did not have", e)
	}
}

func TestFirstRungTooSlow(t *testing.T) {
	l := report(slowly(func(s *plan.Stop) { s.P95OverBaseline, s.MinRequests = new(0.5), 20 }).Run()).Ladders[0]
	if l.Edge == nil || l.Edge.Index != 0 || l.Limit.Value != nil {
		t.Fatalf("edge %+v, limit %+v", l.Edge, l.Limit)
	}
	has(t, "boundary", l.BoundaryReason, "the first rung is too slow already")
}

// Still growing when it became too slow: the boundary is the limit, and says so.
func TestSlowEdgeBeforeTheKnee(t *testing.T) {
	o := slowly(func(s *plan.Stop) { s.P95OverBaseline, s.MinRequests = new(2.0), 20 })
	o.Service, o.Noise = func(s plan.Shape) float64 { return 0.01 + 0.001*float64(s.Batch) }, 0.02
	l := report(o.Run()).Ladders[0]
	if l.Edge == nil || l.Edge.Value != 16 || *l.Limit.Value != 8 || l.Limit.Bound != results.BoundEdge {
		t.Fatalf("edge %+v, limit %+v", l.Edge, l.Limit)
	}
	has(t, "limit", l.Limit.Reason, "still scaling when it became too slow")
}
