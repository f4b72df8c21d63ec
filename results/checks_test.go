package results_test

import (
	"strings"
	"testing"

	"rung/results"
	"rung/results/resultstest"
	"rung/sinks/record"
	"rung/spec/plan"
)

// held is a small run whose limits are held against long text and each other.
func held() resultstest.Options {
	o := resultstest.Small()
	o.Limits = map[string]float64{"batch": 4, "concurrency": 4}
	o.Retests = []plan.Retest{{Ladder: "batch", Prompt: plan.Prompt{Name: "long", Kind: "code"}, Tokens: 2048, Warmup: 2, Requests: 40}}
	o.Confirm = &plan.Check{Prompt: plan.Prompt{Name: "p512"}, Tokens: 512, Warmup: 4, Requests: 60}
	return o
}

func TestChecksConfirm(t *testing.T) {
	r := held().Run()
	rep := report(r)
	if len(rep.Checks) != 2 {
		t.Fatalf("checks %+v", rep.Checks)
	}
	retest, confirm := rep.Checks[0], rep.Checks[1]
	if retest.Verdict != results.Confirmed || *retest.Value != 4 || retest.Latency.N != 40 || retest.Shape != (plan.Shape{Batch: 4, InputTokens: 2048, InFlight: 1}) || retest.PeakBytes == nil || !retest.AfterHighWater || retest.Text != "code" {
		t.Errorf("retest %+v", retest)
	}
	if confirm.Verdict != results.Confirmed || confirm.Value != nil || confirm.Shape.Batch != 4 || confirm.Shape.InFlight != 4 || confirm.Latency.N != 60 {
		t.Errorf("confirmation %+v", confirm)
	}
	for i, want := range []string{"confirmed by the retest and the confirmation", "confirmed by the confirmation"} {
		if l := rep.Ladders[i].Limit; l.Checked != want || l.Check != results.Confirmed {
			t.Errorf("limit %+v, want %s", l, want)
		}
	}
	has(t, "verdict", rep.Verdict, "together they are confirmed")
	if len(rep.Invalid) > 0 {
		t.Errorf("invalid: %v", rep.Invalid)
	}
	// What the checks sent is in no figure of the ladder or the baseline.
	without := held()
	without.Retests, without.Confirm = nil, nil
	bare := report(without.Run())
	if a, b := rep.Ladders[0].Rungs[2], bare.Ladders[0].Rungs[2]; a.Sent != b.Sent || a.Latency.N != b.Latency.N || *a.Throughput != *b.Throughput {
		t.Errorf("%d sent, without checks %d", a.Sent, b.Sent)
	}
	if l := bare.Ladders[0].Limit; l.Check != results.NotChecked || l.Checked != "not checked: the spec has no check of it" {
		t.Errorf("limit %+v", l)
	}
}

// Long text is out of memory at a limit that short text bears.
func TestRetestThatFails(t *testing.T) {
	o := held()
	o.Fails = func(s plan.Shape) (record.Outcome, int) {
		if s.InputTokens > 512 || s.Batch >= 64 {
			return record.OOM, 2
		}
		return record.OK, 0
	}
	rep := report(o.Run())
	l := rep.Ladders[0]
	if l.Limit.Check != results.NotConfirmed || rep.Checks[0].Failures[0].N != 20 {
		t.Fatalf("limit %+v, check %+v", l.Limit, rep.Checks[0])
	}
	has(t, "verdict", rep.Verdict, "not confirmed by the retest: outcome oom in 20 of 40 requests")
	has(t, "notices", notices(rep), `Ladder "batch": the limit is not confirmed by the retest`)
	has(t, "invalid", strings.Join(rep.Invalid, "\n"), `ladder "batch": its limit is not confirmed`)
	if len(l.Said) != 1 || l.Said[0].Value != 64 || l.Edge.Value != 64 {
		t.Errorf("errors %+v: those of the retest are none of the ladder", l.Said)
	}
}

// A warm-up of a check is neither one of the ladder's nor one of the baseline's.
func TestWarmupsOfChecks(t *testing.T) {
	r := held().Run()
	begins := map[record.Phase]float64{}
	for _, e := range r.Events {
		if e.Kind == record.PhaseBegin {
			begins[e.Phase] = e.TS
		}
	}
	changeEach(r, record.Warmup, func(q *record.Request) {
		if q.SentTS >= begins[record.Retest] {
			q.Outcome = record.ServerError
		}
	})
	rep := report(r)
	if len(rep.Baseline.Warmups) > 0 || len(rep.Ladders[0].Warmups) > 0 {
		t.Errorf("failed warm-ups of the baseline %v, of the ladder %+v", rep.Baseline.Warmups, rep.Ladders[0].Warmups)
	}
	if c := rep.Checks; c[0].Warmups[0].N != 2 || c[1].Warmups[0].N != 4 {
		t.Errorf("%+v", c)
	}
}

func TestPeakOfACheckThatIsTooHigh(t *testing.T) {
	o := held()
	o.Used = func(s plan.Shape) int64 {
		return 4*resultstest.GiB + int64(s.Batch*s.InputTokens)*640<<10 + int64(s.Batch*s.InFlight/16)*19*resultstest.GiB
	}
	o.Ladders[0].Rungs = o.Ladders[0].Rungs[:4]
	for i := range o.Ladders[0].Passes {
		o.Ladders[0].Passes[i].Order = []int{0, 1, 2, 3}
	}
	o.Ladders[1].Rungs = o.Ladders[1].Rungs[:4]
	for i := range o.Ladders[1].Passes {
		o.Ladders[1].Passes[i].Order = []int{0, 1, 2, 3}
	}
	rep := report(o.Run())
	if c := rep.Checks[1]; c.Verdict != results.NotConfirmed || !strings.Contains(c.Reason, "leaves less than the declared safety of 8 %") {
		t.Errorf("%+v", c)
	}
	has(t, "verdict", rep.Verdict, "together they are not confirmed: its peak of")
}

// What was checked is the value, not the ladder: under other rules the limit is
// another.
func TestChecksOfAnotherLimit(t *testing.T) {
	r := held().Run()
	rules := r.Plan.Analysis
	rules.Use = "offline"
	rep := results.Analyse(r.Sealed(), rules)
	if l := rep.Ladders[0].Limit; *l.Value != 8 || l.Check != results.NotChecked {
		t.Errorf("limit %+v", l)
	}
	has(t, "reasons", rep.Checks[0].Reason+rep.Checks[1].Reason, "it was sent at 4, which is not the limit", "it was sent at batch 4, which is not the limit")
	// And where nothing was sent, the run says why.
	r = resultstest.Small().Run()
	r.Plan.Cells[0].Retests = held().Retests
	r.Events = append(r.Events, record.Event{Kind: record.Warning, Place: record.Place{Phase: record.Retest, Ladder: "batch"}, TS: 1e3, Reason: "no retest: there is no limit"})
	if rep := report(r); rep.Ladders[0].Limit.Checked != "not checked by the retest: no retest: there is no limit" {
		t.Errorf("limit %+v", rep.Ladders[0].Limit)
	}
}

func TestInstrument(t *testing.T) {
	o := resultstest.Small()
	o.Floor = &record.Floor{InFlight: 16, Requests: 9000, RatePerS: 500, P50S: 0.001, P95S: 0.002}
	r := o.Run()
	r.Client[3].CPUPct, r.Client[4].StallS, r.Client[5].StallS = 61, 0.25, 0.1
	r.Events = append(r.Events, record.Event{Kind: record.ClockStep, TS: 12.34, Reason: "the wall clock stepped by -25000.000 s"})
	for i, v := range []float64{16, 8, 16} {
		r.Events = append(r.Events, record.Event{
			Kind: record.SettleEnd, TS: float64(i), Reason: "given up after 30.0 s: memory is 0.40 GiB above the idle time's",
			Place: record.Place{Phase: record.Measure, Ladder: "batch", Value: v},
		})
	}
	r.Events = append(r.Events, record.Event{Kind: record.SettleEnd, Reason: "settled after 2.0 s", Place: record.Place{Ladder: "batch", Value: 2}})
	c := report(r).Client
	if *c.MaxCPUPct != 61 || *c.MaxStallS != 0.25 || c.Samples != len(r.Client) || len(c.ClockSteps) != 1 {
		t.Errorf("%+v", c)
	}
	if s := c.Settles; len(s) != 1 || s[0].Times != 3 || len(s[0].Values) != 2 || s[0].Values[0] != 8 {
		t.Errorf("settles %+v", s)
	}
	// 4 of 12 ms at once are 333 requests/s, more than half of 500; 83 and 166 are not.
	if n := c.Near; len(n) != 3 || n[0].Ladder != "concurrency" || n[0].Value != 4 || !strings.Contains(n[0].How, "and the client alone does 500") {
		t.Errorf("near %+v", n)
	}
}

// Refusals of a kind are one line, with the reach of their figures.
func TestRefusalsAreCollapsed(t *testing.T) {
	r := chat()
	measured(r, 4, func(q *record.Request) {
		q.Counted, q.RejectReason = false, []string{
			"client_limited: the P95 of sends was 1.4 ms late, and a request takes 10.0 ms",
			"client_limited: the P95 of sends was 1.2 ms late, and a request takes 10.0 ms",
			"token_mismatch: input tokens off the plan in 3 of 40 requests",
		}[q.Pass]
	})
	g := report(r).Ladders[0].Rungs[2]
	if len(g.Refused) != 2 || g.Refused[0] != (results.Refusal{Reason: "client_limited: the P95 of sends was 1.2 to 1.4 ms late, and a request takes 10.0 ms", Attempts: 2}) {
		t.Errorf("%+v", g.Refused)
	}
	if s := g.Refused[0].Shown(); s != "client_limited (the P95 of sends was 1.2 to 1.4 ms late, and a request takes 10.0 ms)" {
		t.Error(s)
	}
}

// The row of a round that was sent again is not the round's verdict.
func TestResetIdleIsNotTheVerdict(t *testing.T) {
	r := chat()
	want := report(r).Ladders[0].Rungs[2]
	var again []record.Request
	measured(r, 4, func(q *record.Request) {
		if q.Index == 0 {
			idle := *q
			idle.Outcome, idle.ResetIdle, idle.Counted, idle.RejectReason = record.Reset, true, false, "sent again"
			idle.DoneTS, idle.SentTS, idle.DueTS = q.SentTS-0.001, q.SentTS-0.002, q.SentTS-0.002
			again = append(again, idle)
		}
	})
	r.Requests = append(r.Requests, again...)
	rep := report(r)
	if got := rep.Ladders[0].Rungs[2]; got.Latency == nil || got.Latency.N != want.Latency.N || len(got.Refused) > 0 {
		t.Errorf("%+v", got.Refused)
	}
	if rep.Client.ResetIdle != 3 {
		t.Errorf("%d sent again", rep.Client.ResetIdle)
	}
}

// Where the run fell short, the result is not one to rely on.
func TestInvalid(t *testing.T) {
	if v := report(resultstest.Small().Run()).Invalid; len(v) > 0 {
		t.Errorf("invalid: %v", v)
	}
	for want, change := range map[string]func(*resultstest.Recorded){
		"did not end as done":  func(r *resultstest.Recorded) { r.Manifest.Status = record.InterruptedStatus },
		"did not end in order": func(r *resultstest.Recorded) { r.Unverified = true },
		"every round was refused": func(r *resultstest.Recorded) {
			measured(r, 4, func(q *record.Request) { q.Counted, q.RejectReason = false, "throttled: x" })
		},
		"client_limited": func(r *resultstest.Recorded) {
			measured(r, 4, func(q *record.Request) { q.Counted, q.RejectReason = false, "client_limited: x" })
		},
		"the baseline is noisy": func(r *resultstest.Recorded) {
			changeEach(r, record.Baseline, func(q *record.Request) { q.DoneTS += 0.1 * float64(q.Index%8/7) })
		},
		`"batch": nothing was measured`: func(r *resultstest.Recorded) { r.Requests = nil },
	} {
		r := resultstest.Small().Run()
		change(r)
		has(t, "invalid", strings.Join(report(r).Invalid, "\n"), want)
	}
}
