package render_test

import (
	"fmt"
	"regexp"
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
	golden(t, "beside.html", besideHTML(t, analyse(a), analyse(b)))
}

// besideHTML is the page of reports whose own pages lie in folders a, b and so on.
func besideHTML(t *testing.T, reports ...*results.Report) string {
	t.Helper()
	var runs []render.Beside
	for i, rep := range reports {
		runs = append(runs, render.Beside{Report: rep, Page: string(rune('a'+i)) + "/report/report.html"})
	}
	return written(t, func(w *strings.Builder) error { return render.BesideHTML(w, runs) })
}

// The page of several runs says of each what the terminal does, links to its page, and
// draws it unlike the others.
func TestBesideHTML(t *testing.T) {
	reports := []*results.Report{analyse(slower(1)), analyse(slower(2)), analyse(tiny())}
	reports[1].Run.RunID, reports[2].Run.RunID = "20261201T081751Z-3fa91c", "20261202T081751Z-3fa91c"
	reports[2].Ladders[0].Name = "other" // a ladder that the two before did not walk
	got := besideHTML(t, reports...)
	says(t, "beside.html", strings.Join(strings.Fields(got), " "),
		"3 runs side by side", `<a href="b/report/report.html">20261201T081751Z-3fa91c</a>`, "Ladder “batch”", "Ladder “other”",
		`class="line run run-0 dash-0"`, `class="line run run-1 dash-1"`, `class="line run run-2 dash-2"`)
	for i, rep := range reports {
		l, look := rep.Ladders[0], fmt.Sprintf("run run-%d dash-%d", i, i)
		if n := strings.Count(got, `class="ring `+look+`"`); l.Limit.Value == nil || n != 4 { // of two pictures, each wide and narrow
			t.Errorf("run %d: %d rings", i, n)
		}
		if n := strings.Count(got, `class="cut `+look+`"`); l.Edge == nil || n != 4 {
			t.Errorf("run %d: %d crosses", i, n)
		}
	}
	text := written(t, func(w *strings.Builder) error {
		return render.SideBySide(w, reports, render.Options{Width: 300, UTF8: true})
	})
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "2026") {
			continue
		}
		for _, cell := range regexp.MustCompile(` {2,}`).Split(strings.TrimSpace(line), -1) {
			if !strings.Contains(got, ">"+cell+"<") {
				t.Errorf("the page does not say %q of %s", cell, line)
			}
		}
	}
	selfContained(t, got, "a/report/report.html", "b/report/report.html", "c/report/report.html")
	if strings.Contains(got, "SIMULATED") {
		t.Error("a page of real runs says simulated")
	}
	reports[1].Simulated = true
	got = besideHTML(t, reports...)
	says(t, "beside.html", got, "SIMULATED: every figure of 20261201T081751Z-3fa91c is of", "20261201T081751Z-3fa91c (simulated)")
}

// Whatever runs lack, they have a page together.
func TestBesideHTMLOfPoorRuns(t *testing.T) {
	nothing, noLadder, noSuccess, one := tiny(), tiny(), tiny(), tiny()
	nothing.Requests, nothing.Samples, nothing.Events = nil, nil, nil
	noLadder.Plan.Cells[0].Ladders, noLadder.Plan.Cells[0].Baseline = nil, nil
	all(noSuccess, func(q *record.Request) { q.Outcome = record.ServerError })
	one.Plan.Cells[0].Ladders[0].Rungs = one.Plan.Cells[0].Ladders[0].Rungs[:1]
	runs := []*results.Report{analyse(nothing), analyse(noLadder), analyse(noSuccess), analyse(one)}
	for _, of := range [][]*results.Report{runs, runs[:2], {runs[2], runs[2]}} {
		if got := besideHTML(t, of...); strings.Contains(got, "NaN") || strings.Contains(got, "Inf") || !strings.HasSuffix(got, "</html>\n") {
			t.Errorf("a page of %d bytes, or with a figure that is none", len(got))
		}
	}
}

// Texts of servers and specs are shown as text.
func TestHostileTwoRuns(t *testing.T) {
	const evil = "x\x1b[2J\u202e<script>\"\r\n"
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
		func(w *strings.Builder) error {
			return render.BesideHTML(w, []render.Beside{{analyse(a), "javascript:alert(1)/#?%\"><script>/report.html"}, {analyse(b), "../b c/report.html"}})
		},
	} {
		got := written(t, write)
		for _, no := range []string{"<script", `href="javascript`} {
			if strings.Contains(got, no) && strings.HasPrefix(got, "<!doctype") {
				t.Errorf("the page holds %s", no)
			}
		}
		for _, r := range got {
			if r != '\n' && unicode.IsControl(r) || r == '\u202e' {
				t.Errorf("holds %U", r)
				break
			}
		}
	}
}
