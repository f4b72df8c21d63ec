package render_test

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"rung/results"
	"rung/results/render"
	"rung/results/resultstest"
	"rung/sinks/record"
	"rung/spec/plan"
)

// slower is a run of the same work on a server that is so many times as slow.
func slower(by float64) *resultstest.Recorded {
	o := resultstest.Options{
		Ladders: []plan.Ladder{resultstest.Ladder("batch", plan.AxisBatch, 3, 4, 15, 1, 2, 4, 8, 16)},
		Service: func(s plan.Shape) float64 { return by * (0.002 + max(0.010, 4e-6*float64(s.Batch*s.InputTokens))) },
		Fails: func(s plan.Shape) (record.Outcome, int) {
			if float64(s.Batch) >= 16/by {
				return record.OOM, 2
			}
			return record.OK, 0
		},
	}
	r := o.Run()
	r.Plan.Rollback = &plan.Rollback{Outcomes: []string{"oom"}, P95: plan.Duration(20 * time.Millisecond), TimeoutRatio: new(0.01)}
	return r
}

func written(t *testing.T, write func(*strings.Builder) error) string {
	t.Helper()
	var b strings.Builder
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGoldenOfTwoRuns(t *testing.T) {
	a, b := slower(1), slower(2)
	b.Manifest.RunID = "20261201T081751Z-3fa91c"
	b.Plan.Cells[0].Server = &plan.Server{Command: []string{"serve", "--max-num-seqs", "8"}}
	c, err := results.Compare(a.Sealed(), b.Sealed(), false)
	if err != nil {
		t.Fatal(err)
	}
	o := render.Options{UTF8: true}
	golden(t, "compare.txt", written(t, func(w *strings.Builder) error { return render.Compare(w, c, o) }))
	golden(t, "gate.txt", written(t, func(w *strings.Builder) error { return render.Gate(w, results.NewGate(analyse(b), analyse(a)), o) }))
	golden(t, "sidebyside.txt", written(t, func(w *strings.Builder) error {
		return render.SideBySide(w, []*results.Report{analyse(a), analyse(b)}, o)
	}))
}

// Texts of servers and specs are shown as text.
func TestHostileTwoRuns(t *testing.T) {
	const evil = "x\x1b[2J\u202e\r\n"
	a, b := slower(1), slower(2)
	for _, r := range []*resultstest.Recorded{a, b} {
		r.Manifest.RunID, r.Plan.Target.Model, r.Manifest.Server.Software, r.Manifest.Cell = evil, evil, evil, evil
		r.Plan.Cells[0].Ladders[0].Name, r.Plan.Cells[0].Name = evil, evil
		for i := range r.Requests {
			if r.Requests[i].Ladder != "" {
				r.Requests[i].Ladder = evil
			}
		}
	}
	b.Plan.Cells[0].Server = &plan.Server{Command: []string{evil}}
	a.Plan.Rollback.Outcomes = []string{evil}
	c, err := results.Compare(a.Sealed(), b.Sealed(), true)
	if err != nil {
		t.Fatal(err)
	}
	for _, write := range []func(*strings.Builder) error{
		func(w *strings.Builder) error { return render.Compare(w, c, render.Options{UTF8: true}) },
		func(w *strings.Builder) error { return render.CompareJSON(w, c) },
		func(w *strings.Builder) error {
			return render.Gate(w, results.NewGate(analyse(b), analyse(a)), render.Options{UTF8: true})
		},
		func(w *strings.Builder) error { return render.GateJSON(w, results.NewGate(analyse(b), analyse(a))) },
		func(w *strings.Builder) error {
			return render.SideBySide(w, []*results.Report{analyse(a), analyse(b)}, render.Options{UTF8: true})
		},
	} {
		for _, r := range written(t, write) {
			if r != '\n' && unicode.IsControl(r) || r == '\u202e' {
				t.Errorf("holds %U", r)
				break
			}
		}
	}
}
