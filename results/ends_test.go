package results_test

import (
	"strings"
	"testing"

	"rung/results"
	"rung/results/resultstest"
	"rung/sinks/record"
	"rung/spec/plan"
)

// The knee that offline use takes is never a rung that fails.
func TestOfflineNeverTakesTheEdge(t *testing.T) {
	o := resultstest.Options{NoGPU: true, Ladders: []plan.Ladder{resultstest.Ladder("batch", plan.AxisBatch, 3, 4, 5, 1, 2, 4, 8)}}
	o.Fails = func(s plan.Shape) (record.Outcome, int) {
		if s.Batch == 8 {
			return record.OOM, 2
		}
		return record.OK, 0
	}
	r := o.Run()
	rules := r.Plan.Analysis
	rules.Use = "offline"
	l := results.Analyse(r.Sealed(), rules).Ladders[0]
	if l.Edge == nil || l.Edge.Value != 8 || l.Limit.Value == nil || *l.Limit.Value != 4 || l.Limit.Bound != results.BoundEdge {
		t.Errorf("edge %+v, limit %+v", l.Edge, l.Limit)
	}
}

func TestLadderOfOneRung(t *testing.T) {
	o := resultstest.Options{Ladders: []plan.Ladder{resultstest.Ladder("batch", plan.AxisBatch, 3, 4, 5, 8)}}
	rep := report(o.Run())
	has(t, "verdict", rep.Verdict, "Nothing to configure yet", "a knee takes 3 usable rungs, and here are 1")
	o.Fails = func(plan.Shape) (record.Outcome, int) { return record.OOM, 1 }
	has(t, "verdict", report(o.Run()).Verdict, "the first rung fails")
}

func TestNoRequests(t *testing.T) {
	r := resultstest.Small().Run()
	r.Requests = nil
	rep := report(r)
	has(t, "verdict", rep.Verdict, "Nothing to configure yet", "nothing was measured")
	has(t, "baseline", rep.Baseline.Verdict, "no single request was sent")
}

// How a run ended comes before everything that it found.
func TestEndsAreSaidFirst(t *testing.T) {
	for status, want := range map[record.Status][2]string{
		record.Running:           {"The run has not ended", "From a run that has not ended: configure"},
		record.Failed:            {"The run failed: the disk is full", "From a run that failed: configure"},
		record.InterruptedStatus: {"The run was interrupted", "From a run that was interrupted: configure"},
		"odd":                    {`The run's status is "odd"`, "From a run that did not finish: configure"},
	} {
		r := resultstest.Small().Run()
		r.Manifest.Status, r.Manifest.Error = status, "the disk is full"
		rep := report(r)
		if !strings.HasPrefix(rep.Notices[0], want[0]) || !strings.HasPrefix(rep.Verdict, want[1]) {
			t.Errorf("%s: %q, %q", status, rep.Notices[0], rep.Verdict)
		}
	}
}

// A run that was killed in its third rung.
func TestUnfinishedRunSaysWhatIsMissing(t *testing.T) {
	r := resultstest.Small().Run()
	r.Manifest.Status, r.Manifest.Ended, r.Unverified = record.Running, nil, true
	keep := r.Requests[:0]
	for _, q := range r.Requests {
		if q.Ladder == "" || q.Ladder == "batch" && q.Pass == 0 && q.Rung < 2 {
			keep = append(keep, q)
		}
	}
	r.Requests, r.Events = keep, r.Events[:20]
	rep := report(r)
	has(t, "notices", strings.Join(rep.Notices, " "), "has not ended", "no manifest vouches for it", "no measurement at 4, 8, 16, 32, 64", `"concurrency": nothing was measured`)
	has(t, "verdict", rep.Verdict, "From a run that has not ended: nothing to configure yet")
	if rep.Ladders[1].Limit.Value != nil || len(rep.Ladders[1].NotWalked) != 5 {
		t.Errorf("ladder %+v", rep.Ladders[1])
	}
}

func TestEmptyRun(t *testing.T) {
	r := &resultstest.Recorded{Run: results.Run{Plan: plan.Plan{Cells: []plan.Cell{{}}}, Manifest: record.Manifest{Status: record.Failed, Error: "the server is not there"}}}
	rep := report(r)
	has(t, "verdict", rep.Verdict, "From a run that failed: nothing to configure: the plan has no ladder")
	has(t, "notices", strings.Join(rep.Notices, " "), "The run failed: the server is not there")
}

// A run that went on after it had stopped says so, and where its surroundings were others.
func TestResumedRunSaysSo(t *testing.T) {
	r := resultstest.Small().Run()
	r.Manifest.Resumes = []record.Resume{{Changed: []string{`server.version: "0.31", now "0.32"`}}}
	r.Events = append(r.Events, record.Event{Kind: record.Resumed, TS: 40, Reason: "the run had stopped at 30.0 s, 10.0 s before by the wall clock"},
		record.Event{Kind: record.LadderEnd, Place: record.Place{Ladder: "batch"}, TS: 20, Reason: "interrupted"})
	rep := report(r)
	has(t, "notices", strings.Join(rep.Notices, " "), "resumed at 40.0 s", "stopped at 30.0 s", `server.version: "0.31", now "0.32"`)
	if got := rep.Ladders[0].Ended; got == "interrupted" {
		t.Errorf("the ladder ended as %q, which is how its first part did", got)
	}
}
