package results_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"rung/results"
	"rung/results/resultstest"
	"rung/sinks/record"
	"rung/spec/plan"
)

// Requests that fail at once are in the failure ratio, and in no latency and no
// throughput: they made a rate look high and a percentile low.
func TestCase45(t *testing.T) {
	r := chat()
	r.Plan.Cells[0].Ladders[0].Stop.FailureRatio = 0.5
	before := report(r).Ladders[0].Rungs[2]
	var latencies []float64
	measured(r, 4, func(q *record.Request) {
		if q.Index%5 == 0 {
			q.Outcome, q.InputTokens, q.OutputTokens, q.InputsDone = record.ServerError, nil, nil, 0
			q.DoneTS = q.SentTS + 0.0001
			return
		}
		latencies = append(latencies, q.LatencyS())
	})
	slices.Sort(latencies)
	rung := report(r).Ladders[0].Rungs[2]
	if rung.Latency.N != len(latencies) || rung.Latency.MinS != latencies[0] || rung.Latency.P95S != record.Quantile(latencies, 0.95) || rung.Latency.MinS < 0.001 {
		t.Errorf("%+v of %d successes", rung.Latency, len(latencies))
	}
	if rung.Sent != 120 || len(rung.Failures) != 1 || rung.Failures[0] != (results.Failures{Name: "server_error", N: 24}) || rung.Failed != "" {
		t.Errorf("%d sent, %v failed, %q", rung.Sent, rung.Failures, rung.Failed)
	}
	if share := *rung.Throughput / *before.Throughput; math.Abs(share-0.8) > 0.03 {
		t.Errorf("the throughput is %.2f of that without failures, and 0.8 of its requests were answered", share)
	}
	r.Plan.Cells[0].Ladders[0].Stop.FailureRatio = 0.1
	if e := report(r).Ladders[0].Edge; e == nil || e.Value != 4 || e.Reason != "24 of 120 requests failed, more than the declared ratio of 0.1" {
		t.Errorf("edge %+v", e)
	}
}

// A request that met a connection which had been closed while it lay idle was sent
// again: it is in no ratio, no stop rule and no count of failures.
func TestIdleResetsAreInNoRatio(t *testing.T) {
	r := chat()
	want := report(r)
	var again []record.Request
	measured(r, 4, func(q *record.Request) {
		if q.Index == 7 {
			idle := *q
			idle.Outcome, idle.ResetIdle, idle.InputTokens, idle.OutputTokens, idle.InputsDone, idle.DoneTS = record.Reset, true, nil, nil, 0, q.SentTS
			again = append(again, idle)
		}
	})
	r.Requests = append(r.Requests, again...)
	got := report(r)
	a, b := got.Ladders[0].Rungs[2], want.Ladders[0].Rungs[2]
	if len(again) != 3 || a.Sent != b.Sent || len(a.Failures) > 0 || a.Latency.N != b.Latency.N || *a.Throughput != *b.Throughput || got.Ladders[0].Edge != nil || len(got.Ladders[0].Said) > 0 {
		t.Errorf("%d sent, %v failed; without them %d", a.Sent, a.Failures, b.Sent)
	}
	if got.Run.Counts.Failed != 0 {
		t.Errorf("%d failed", got.Run.Counts.Failed)
	}
}

// A limit of the server's own is named by what sets it, and one cause is one incident,
// however many fell to it.
func TestLimitsAreNamed(t *testing.T) {
	r := chat()
	n := 0
	measured(r, 4, func(q *record.Request) {
		if n++; n <= 4 {
			q.Outcome, q.Limit, q.OutputTokens, q.Incident = record.TooLong, record.LimitSlots, nil, new(int64(1))
		}
	})
	measured(r, 8, func(q *record.Request) {
		if q.Index == 0 && q.Pass == 0 {
			q.Outcome, q.Limit, q.OutputTokens, q.Incident = record.TooLong, record.LimitTokens, nil, new(int64(2))
		}
	})
	rep := report(r)
	has(t, "notices", notices(rep),
		`Ladder "concurrency" at 4: 4 requests met a limit of the server in 1 incident: the context is shared by the slots: llama.cpp -c over -np.`,
		`Ladder "concurrency" at 8: 1 request met a limit of the server: the model's context: vLLM --max-model-len`)
	if m := rep.Ladders[0].Met; len(m) != 2 || m[0].N != 4 || m[0].Incidents != 1 {
		t.Errorf("%+v", m)
	}
	if strings.Contains(notices(report(chat())), "met a limit") {
		t.Error("a limit where none was met")
	}
}

// Slots of an open loop that were missed were never sent, so that they have no times:
// they are rows like others.
func TestDroppedRowsAreSound(t *testing.T) {
	r := chat()
	measured(r, 8, func(q *record.Request) {
		if q.Index%4 == 0 {
			q.Outcome, q.SentTS, q.DoneTS, q.OutputTokens, q.InputTokens = record.Dropped, 0, 0, nil, nil
		}
	})
	rep := report(r)
	if g := rep.Ladders[0].Rungs[3]; strings.Contains(notices(rep), "times cannot be") || g.Sent != 240 || len(g.Failures) > 0 || g.Latency.N != 180 {
		t.Errorf("%d of them, n %d: %s", g.Sent, g.Latency.N, notices(rep))
	}
}

// queued is a server whose own queue takes 63 requests: more get a 429.
func queued() *resultstest.Recorded {
	o := resultstest.Options{
		API: plan.OpenAIChat, Chat: true, Slots: 64,
		Ladders: []plan.Ladder{resultstest.Ladder("concurrency", plan.AxisConcurrency, 3, 1, 40, 8, 16, 32, 64, 128)},
		Fails: func(s plan.Shape) (record.Outcome, int) {
			if s.InFlight >= 64 {
				return record.Overloaded, 4
			}
			return record.OK, 0
		},
	}
	r := o.Run()
	for i := range r.Requests {
		if q := &r.Requests[i]; q.Outcome == record.Overloaded {
			q.Status, q.Error = new(429), `{"error":"Model is overloaded","error_type":"Overloaded"}`
		}
	}
	return r
}

// A server that is overloaded from 64 requests on: the boundary is 32, by its queue and
// not by memory, and what to look at is named.
func TestCase08(t *testing.T) {
	rep := report(queued())
	l := rep.Ladders[0]
	if l.Edge == nil || l.Edge.Value != 64 || l.Boundary == nil || *l.Boundary != 32 || len(l.Edge.Failures) != 1 || l.Edge.Failures[0].Name != "overloaded" {
		t.Fatalf("edge %+v, boundary %v", l.Edge, l.Boundary)
	}
	if l.Limit.Bound == results.BoundMemory || *l.Limit.Value != 32 {
		t.Errorf("limit %+v", l.Limit)
	}
	has(t, "settings", strings.Join(l.Edge.Settings, "; "), "overload", "queue and not memory", "--max-concurrent-requests")
	has(t, "findings", strings.Join(l.Findings, " "), "What failed at 64 is overload", "--max-concurrent-requests")
	has(t, "verdict", rep.Verdict, "max_concurrency 32 (64 fails: overloaded")
}

// A too_long edge names the setting that it met.
func TestTooLongNamesItsSetting(t *testing.T) {
	o := resultstest.Options{NoGPU: true, Ladders: []plan.Ladder{resultstest.Ladder("length", plan.AxisInputTokens, 1, 4, 5, 512, 1024, 2048)}}
	o.Fails = func(s plan.Shape) (record.Outcome, int) {
		if s.InputTokens > 1024 {
			return record.TooLong, 1
		}
		return record.OK, 0
	}
	r := o.Run()
	measured(r, 2048, func(q *record.Request) { q.Limit = record.LimitTokens })
	e := report(r).Ladders[0].Edge
	if e == nil || len(e.Settings) != 1 || e.Settings[0] != record.LimitTokens.Setting() {
		t.Errorf("edge %+v", e)
	}
}

// A server that answers in 50 ms in one round and in 150 ms in the next never comes to
// rest: that is said, the result is none to rely on, and the figures stand all the same.
func TestCase50(t *testing.T) {
	for _, rounds := range []int{4, 5, 12} {
		o := resultstest.Options{NoGPU: true, Ladders: []plan.Ladder{resultstest.Ladder("batch", plan.AxisBatch, 1, rounds, 10, 1, 2, 4)}}
		o.Service = func(plan.Shape) float64 { return 0.16 }
		r := o.Run()
		measured(r, 2, func(q *record.Request) {
			q.DoneTS = q.SentTS + []float64{0.05, 0.15}[q.Round%2]*(1+0.01*float64(q.Index%7))
		})
		rep := report(r)
		g := rep.Ladders[0].Rungs[1]
		if g.Steady == nil || g.Steady.Verdict != results.NotSteady || g.Latency == nil || g.Latency.N != 10*rounds || g.Throughput == nil {
			t.Fatalf("%d rounds: %+v, latency %+v", rounds, g.Steady, g.Latency)
		}
		for _, i := range []int{0, 2} {
			if s := rep.Ladders[0].Rungs[i].Steady; s.Verdict != results.IsSteady {
				t.Errorf("%d rounds: rung %d %+v", rounds, i, s)
			}
		}
		has(t, "notices", notices(rep), `Ladder "batch" at 2 is not steady in 1 of 1 pass`)
		has(t, "invalid", strings.Join(rep.Invalid, "; "), `ladder "batch" at 2: not steady`)
		has(t, "findings", strings.Join(rep.Ladders[0].Findings, " "), "Not steady at 2")
	}
}

// A latency that creeps up within every pass is not steady, and one that wanders
// between passes is: each is judged in itself.
func TestSteadyWithinAPass(t *testing.T) {
	steadyAt := func(change func(*record.Request)) *results.Steady {
		o := resultstest.Options{NoGPU: true, Ladders: []plan.Ladder{resultstest.Ladder("batch", plan.AxisBatch, 3, 1, 40, 1, 2, 4)}}
		o.Service = func(plan.Shape) float64 { return 0.2 }
		r := o.Run()
		measured(r, 2, change)
		return report(r).Ladders[0].Rungs[1].Steady
	}
	if s := steadyAt(func(q *record.Request) { q.DoneTS = q.SentTS + 0.1*(1+0.01*float64(q.Index)) }); s.Verdict != results.NotSteady || s.Moved != 3 {
		t.Errorf("creeping: %+v", s)
	}
	if s := steadyAt(func(q *record.Request) {
		q.DoneTS = q.SentTS + 0.1*(1+float64(q.Pass)/2)*(1+0.01*float64(q.Index%5))
	}); s.Verdict != results.IsSteady {
		t.Errorf("wandering: %+v", s)
	}
	// Less than 5 %, however sure, is no matter.
	if s := steadyAt(func(q *record.Request) { q.DoneTS = q.SentTS + 0.1*(1+0.001*float64(q.Index)) }); s.Verdict != results.IsSteady {
		t.Errorf("creeping a little: %+v", s)
	}
}

// With more in flight than the server runs at once, how long a request waits depends
// on how far the round is: of one round nothing is said.
func TestSteadyAboveTheKnee(t *testing.T) {
	o := resultstest.Options{NoGPU: true, Ladders: []plan.Ladder{resultstest.Ladder("concurrency", plan.AxisConcurrency, 3, 1, 40, 1, 2, 4, 8)}}
	g := report(o.Run()).Ladders[0].Rungs
	if s := g[3].Steady; s.Verdict != results.SteadyUnknown || !strings.Contains(s.How, "more in flight") || g[2].Steady.Verdict != results.IsSteady {
		t.Errorf("at 8 %+v, at 4 %+v", s, g[2].Steady)
	}
	o.Ladders[0] = resultstest.Ladder("concurrency", plan.AxisConcurrency, 3, 3, 40, 1, 2, 4, 8)
	if s := report(o.Run()).Ladders[0].Rungs[3].Steady; s.Verdict != results.IsSteady {
		t.Errorf("thirds of rounds: %+v", s)
	}
}

// The figure on top has the mark that it has in its table.
func TestVerdictMarksWhatRestsOnTooFew(t *testing.T) {
	o := resultstest.Options{NoGPU: true, Ladders: []plan.Ladder{resultstest.Ladder("batch", plan.AxisBatch, 3, 2, 5, 1, 2, 4, 8, 16)}}
	has(t, "verdict", report(o.Run()).Verdict, "times the P95, on too few requests")
	o.Ladders[0] = resultstest.Ladder("batch", plan.AxisBatch, 3, 4, 5, 1, 2, 4, 8, 16)
	if v := report(o.Run()).Verdict; strings.Contains(v, "too few") {
		t.Errorf("60 are enough: %s", v)
	}
}
