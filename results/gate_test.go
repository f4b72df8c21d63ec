package results_test

import (
	"strings"
	"testing"
	"time"

	"rung/results"
	"rung/results/resultstest"
	"rung/sinks/record"
	"rung/spec/plan"
)

// reference is a run with criteria, whose limits are 4 in a batch and 4 at once.
func reference() *resultstest.Recorded {
	o := resultstest.Small()
	o.Ladders[0] = resultstest.Ladder("batch", plan.AxisBatch, 3, 4, 5, 1, 2, 4, 8, 16, 32, 64)
	r := o.Run()
	r.Plan.Rollback = &plan.Rollback{Outcomes: []string{"oom"}, P95: plan.Duration(100 * time.Millisecond), TimeoutRatio: new(0.01)}
	return r
}

func verdicts(g results.Gate) string {
	var out []string
	for _, r := range g.Rules {
		out = append(out, r.Verdict)
	}
	return g.Verdict + ": " + strings.Join(out, ", ")
}

// A later run that does as well up to the limits holds, though it fails above them.
func TestGateHolds(t *testing.T) {
	g := results.NewGate(report(reference()), report(reference()))
	if got := verdicts(g); got != "held: held, held, held" {
		t.Errorf("%s: %+v", got, g)
	}
	has(t, "scope", strings.Join(g.Scope, "; "), `ladder "batch", 3 rungs: up to 4, the reference's limit`, `ladder "concurrency", 3 rungs: up to 4`)
}

// Each criterion trips by itself, and names where.
func TestGateTrips(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*record.Request)
		want   string
		says   string
	}{
		"outcome": {func(q *record.Request) {
			if q.Index == 0 {
				q.Outcome = record.OOM
			}
		}, "tripped: tripped, not evaluable, held", "12 oom at batch 4"},
		"P95": {func(q *record.Request) { q.DoneTS += 0.2 }, "tripped: held, tripped, held", "s at batch 4"},
		"timeouts": {func(q *record.Request) {
			if q.Round == 0 {
				q.Outcome = record.Timeout
			}
		}, "tripped: held, not evaluable, tripped", "15 of "},
	} {
		r := reference()
		for i := range r.Requests {
			if q := &r.Requests[i]; q.Phase == record.Measure && q.Ladder == "batch" && q.Value == 4 {
				tt.change(q)
			}
		}
		g := results.NewGate(report(r), report(reference()))
		if got := verdicts(g); got != tt.want {
			t.Errorf("%s: %s: %+v", name, got, g)
		}
		said := ""
		for _, rule := range g.Rules {
			if rule.Verdict == results.Tripped {
				said += rule.Says
			}
		}
		has(t, name, said, tt.says)
	}
}

// What can't be told is no pass.
func TestGateNotEvaluable(t *testing.T) {
	ref := reference()
	ref.Plan.Rollback = nil
	if g := results.NewGate(report(reference()), report(ref)); verdicts(g) != "not evaluable: not evaluable" {
		t.Errorf("without criteria: %+v", g)
	}
	few := resultstest.Small()
	few.Ladders = few.Ladders[:1]
	few.Ladders[0] = resultstest.Ladder("batch", plan.AxisBatch, 1, 4, 5, 1, 2, 4)
	if g := results.NewGate(report(few.Run()), report(reference())); verdicts(g) != "not evaluable: held, not evaluable, held" {
		t.Errorf("of 20 requests a rung: %+v", g)
	}
	half := reference()
	half.Manifest.Status = record.Failed
	if g := results.NewGate(report(half), report(reference())); verdicts(g) != "not evaluable: held, held, held, not evaluable" {
		t.Errorf("a run that failed: %+v", g)
	}
	above := resultstest.Small()
	above.Ladders = above.Ladders[:1]
	above.Ladders[0] = resultstest.Ladder("batch", plan.AxisBatch, 3, 4, 5, 8, 16)
	if g := results.NewGate(report(above.Run()), report(reference())); verdicts(g) != "not evaluable: not evaluable, not evaluable, not evaluable" {
		t.Errorf("above the limits alone: %+v", g)
	}
}

// Batches at their cap trip only beside more spread than the reference had.
func TestGateOfTheCap(t *testing.T) {
	run := func(slow bool) *results.Report {
		o := paged()
		o.Page = func(plan.Shape) map[string]float64 { return map[string]float64{"batch_size_top_share": 0.8} }
		r := o.Run()
		r.Plan.Rollback = &plan.Rollback{CapShare: new(0.5)}
		measured(r, 4, func(q *record.Request) {
			if slow && q.Index%5 == 0 {
				q.DoneTS += 2
			}
		})
		return report(r)
	}
	if g := results.NewGate(run(true), run(false)); verdicts(g) != "tripped: tripped" || !strings.Contains(g.Rules[0].Says, "80 % of the batches at concurrency 4") {
		t.Errorf("%+v", g)
	}
	if g := results.NewGate(run(false), run(false)); verdicts(g) != "held: held" {
		t.Errorf("%+v", g)
	}
	if g := results.NewGate(report(chat()), run(false)); verdicts(g) != "not evaluable: not evaluable" {
		t.Errorf("%+v", g)
	}
}
