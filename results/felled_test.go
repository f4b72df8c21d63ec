package results_test

import (
	"testing"

	"rung/results"
	"rung/results/resultstest"
	"rung/sinks/record"
)

// atEdge changes what became of the requests at the edge of a small run.
func atEdge(t *testing.T, change func(*record.Request)) *results.Report {
	t.Helper()
	run := resultstest.Small().Run()
	edge := report(run).Ladders[0].Edge
	if edge == nil {
		t.Fatal("the small run has no edge")
	}
	for i := range run.Requests {
		if q := &run.Requests[i]; q.Ladder != "" && q.Value == edge.Value {
			change(q)
		}
	}
	return report(run)
}

// A server that fell in the warm-ups of a rung refuses its rounds: what happened
// to it is what the warm-ups say.
func TestFelledInTheWarmup(t *testing.T) {
	rep := atEdge(t, func(q *record.Request) {
		q.Outcome = record.Refused
		if q.Phase == record.Warmup {
			q.Outcome = record.Reset
		}
	})
	if e := rep.Ladders[0].Edge; e == nil || e.First != "reset" {
		t.Fatalf("edge %+v", e)
	}
	has(t, "verdict", rep.Verdict, "fails: reset in its warm-up, then refused")
}

// An edge whose confirming rounds passed is one at times, and the verdict says so.
func TestEdgeAtTimes(t *testing.T) {
	rep := atEdge(t, func(q *record.Request) {
		if q.Phase == record.Confirm {
			q.Outcome = record.OK
		}
	})
	if e := rep.Ladders[0].Edge; e == nil || !e.AtTimes {
		t.Fatalf("edge %+v", e)
	}
	has(t, "verdict", rep.Verdict, "fails at times: ")
}
