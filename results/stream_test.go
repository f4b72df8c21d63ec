package results_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"rung/results"
	"rung/results/resultstest"
	"rung/sinks/record"
	"rung/spec/plan"
)

// streams is a concurrency ladder whose answers come token by token.
func streams() resultstest.Options {
	return resultstest.Options{
		API: plan.OpenAIChat, Chat: true, Stream: true, NoGPU: true,
		Ladders: []plan.Ladder{resultstest.Ladder("concurrency", plan.AxisConcurrency, 3, 1, 40, 1, 2, 4, 8)},
		Service: func(plan.Shape) float64 { return 0.1 }, Noise: 1e-9,
	}
}

// Of 100 ms the first token takes 20; the other 63 of 64 come in 80.
func TestStreams(t *testing.T) {
	r := streams().Run()
	g := report(r).Ladders[0].Rungs[0]
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-6 {
			t.Errorf("%s %g, want %g", what, got, want)
		}
	}
	near("TTFT", g.Stream.TTFT.MedianS, 0.02)
	near("TPOT", g.Stream.TPOT.P95S, 0.08/63)
	near("gap", g.Stream.Gaps.MedianS, 0.08/63)
	if s := g.Stream; s.TTFT.N != 120 || s.Gaps.Answers != 120 || s.Gaps.N != 120*63 || !s.Gaps.P95Supported || s.Gaps.P99Supported {
		t.Errorf("n %d, %d gaps of %d answers", s.TTFT.N, s.Gaps.N, s.Gaps.Answers)
	}
	if a := g.Answers; a.N != 120 || len(a.Finish) != 1 || a.Finish[0] != (results.Failures{Name: "length", N: 120}) || a.WithoutUsage != 0 {
		t.Errorf("answers %+v", a)
	}
	measured(r, 1, func(q *record.Request) {
		switch q.Index % 4 {
		case 0:
			q.FirstTokenTS, q.ChunkGapsS = nil, nil
		case 1:
			q.OutputTokens, q.FinishReason = new(1), "stop"
		}
	})
	g = report(r).Ladders[0].Rungs[0]
	if s := g.Stream; s.TTFT.N != 90 || s.Untimed != 30 || s.TPOT.N != 60 || s.Gaps.Answers != 90 || g.Output.Short != 30 {
		t.Errorf("TTFT of %d, TPOT of %d, without %d, %d short", s.TTFT.N, s.TPOT.N, s.Untimed, g.Output.Short)
	}
	if report(chat()).Ladders[0].Rungs[0].Stream != nil {
		t.Error("a stream where none was")
	}
}

// Without usage no token is known, and none is put in its place.
func TestStreamsWithoutUsage(t *testing.T) {
	r := streams().Run()
	measured(r, 2, func(q *record.Request) { q.OutputTokens = nil })
	l := report(r).Ladders[0]
	if g := l.Rungs[1]; g.Stream.TPOT != nil || g.Stream.TTFT == nil || g.Answers.WithoutUsage != 120 || l.Unit != "requests/s" || g.Output != nil {
		t.Errorf("rung %+v in %s", g, l.Unit)
	}
	has(t, "findings", strings.Join(l.Findings, " "), "Tokens are unknown in 120 of 600 answers")
}

func objective(latency, ttft, tpot time.Duration) *plan.SLO {
	return &plan.SLO{Latency: plan.Duration(latency), TTFT: plan.Duration(ttft), TPOT: plan.Duration(tpot)}
}

// At 8 in flight on four slots a request waits as long as it is worked on.
func TestGoodput(t *testing.T) {
	o := streams()
	o.SLO = objective(150*time.Millisecond, 0, 2*time.Millisecond)
	r := o.Run()
	rep := report(r)
	l := rep.Ladders[0]
	if g := l.Rungs[2].Goodput; *g.Share != 1 || g.Good != 120 || math.Abs(*g.PerS-40) > 0.5 {
		t.Errorf("at 4: %+v", g)
	}
	if g := l.Rungs[3].Goodput; *g.Share > 0.1 || *g.PerS > 8 || g.Of != 240 {
		t.Errorf("at 8: %+v", g)
	}
	has(t, "findings", strings.Join(l.Findings, " "), "Goodput is greatest at 4: 40", "100 % of its requests meet latency 0.15 s, tpot 0.002 s")
	// Failures are of the requests, and meet nothing.
	measured(r, 4, func(q *record.Request) {
		if q.Index%4 == 0 {
			q.Outcome = record.ServerError
		}
	})
	if g := report(r).Ladders[0].Rungs[2].Goodput; *g.Share != 0.75 || g.Of != 120 {
		t.Errorf("with failures: %+v", g)
	}
	if g := report(chat()).Ladders[0].Rungs[0].Goodput; g != nil {
		t.Errorf("goodput %+v without an objective", g)
	}
}

// Without the data for a part there is no figure.
func TestGoodputThatIsNotEvaluable(t *testing.T) {
	o := streams()
	o.Stream, o.SLO = false, objective(0, 100*time.Millisecond, 0)
	l := report(o.Run()).Ladders[0]
	if g := l.Rungs[0].Goodput; g.PerS != nil || g.Share != nil || !strings.HasPrefix(g.Reason, "not evaluable: ttft") {
		t.Errorf("%+v", g)
	}
	has(t, "findings", strings.Join(l.Findings, " "), "Goodput is not evaluable: ttft")
	o = streams()
	o.SLO = objective(0, 0, time.Millisecond)
	r := o.Run()
	measured(r, 1, func(q *record.Request) { q.OutputTokens = nil })
	measured(r, 2, func(q *record.Request) { q.OutputTokens = new(1) })
	rungs := report(r).Ladders[0].Rungs
	if g := rungs[0].Goodput; g.PerS != nil || !strings.Contains(g.Reason, "tpot, and the output tokens") {
		t.Errorf("%+v", g)
	}
	if g := rungs[1].Goodput; *g.Share != 1 {
		t.Errorf("answers of one token have none after it: %+v", g)
	}
	if g := rungs[2].Goodput; *g.Share != 0 || *g.PerS != 0 {
		t.Errorf("%+v", g)
	}
}

// Of a rate the goodput is over the planned duration, and what was dropped met nothing.
func TestGoodputOfARate(t *testing.T) {
	o := rates(20, 200)
	o.SLO = objective(time.Second, 0, 0)
	l := report(o.Run()).Ladders[0]
	if g := l.Rungs[0].Goodput; math.Abs(*g.PerS-20) > 0.2 || *g.Share != 1 {
		t.Errorf("%+v", g)
	}
	if g := l.Rungs[1].Goodput; g.Of != 8000 || *g.Share > 0.1 {
		t.Errorf("%+v", g)
	}
}
