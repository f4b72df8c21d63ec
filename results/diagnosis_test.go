package results_test

import (
	"strings"
	"testing"

	"rung/results"
	"rung/results/resultstest"
	"rung/sinks/record"
	"rung/spec/plan"
)

// observed is a chat server whose page and card show what is given.
func observed(page func(n float64) map[string]float64, card func(n int, s *record.Sample)) resultstest.Options {
	return resultstest.Options{
		API: plan.OpenAIChat, Chat: true, Stream: true, Slots: 16,
		Service: func(s plan.Shape) float64 { return 0.5 },
		Ladders: []plan.Ladder{resultstest.Ladder("concurrency", plan.AxisConcurrency, 2, 1, 40, 1, 2, 4, 8)},
		Page:    func(s plan.Shape) map[string]float64 { return page(float64(s.InFlight)) },
		Card:    func(s plan.Shape, x *record.Sample) { card(s.InFlight, x) },
	}
}

func quiet(float64) map[string]float64 { return map[string]float64{"running": 1} }

// One signal alone names nothing, and neither do signals of two causes.
func TestUndetermined(t *testing.T) {
	cool := func(_ int, s *record.Sample) { s.UtilGPUPct, s.PowerW = new(80.0), new(50.0) }
	for name, o := range map[string]resultstest.Options{
		"requests wait and more run": observed(func(n float64) map[string]float64 { return map[string]float64{"waiting": 1, "running": n} }, cool),
		"a full pool alone":          observed(func(n float64) map[string]float64 { return map[string]float64{"running": n, "kv_usage": 0.99} }, cool),
		"a hot card that scales":     observed(quiet, func(_ int, s *record.Sample) { s.UtilGPUPct, s.PowerW = new(100.0), new(70.0) }),
		"a busy card of no power":    observed(quiet, func(_ int, s *record.Sample) { s.UtilGPUPct = new(100.0) }),
		"nothing at all":             {NoGPU: true, Ladders: []plan.Ladder{resultstest.Ladder("concurrency", plan.AxisConcurrency, 2, 1, 40, 1, 2, 4, 8)}},
	} {
		l := report(o.Run()).Ladders[0]
		for _, r := range l.Rungs {
			if r.Diagnosis.Verdict != results.Undetermined || r.Diagnosis.Reason == "" {
				t.Errorf("%s, at %g: %+v", name, r.Value, r.Diagnosis)
			}
		}
		if strings.Contains(l.Findings[0], "the bottleneck") {
			t.Errorf("%s: %s", name, l.Findings[0])
		}
	}
}

// Requests that wait for a full pool wait for memory; those that wait beside a card that
// the host starves are of two causes.
func TestTwoCauses(t *testing.T) {
	o := observed(func(n float64) map[string]float64 {
		return map[string]float64{"waiting": max(0, n-2), "running": min(n, 2), "kv_usage": 0.97, "preemptions": max(0, n-2)}
	}, func(int, *record.Sample) {})
	if d := report(o.Run()).Ladders[0].Rungs[3].Diagnosis; d.Verdict != results.ByPaging || len(d.Signals) < 3 || d.Signals[0].Of != results.ByPaging {
		t.Errorf("%+v", d)
	}
	tick := 0
	o = observed(func(n float64) map[string]float64 {
		return map[string]float64{"waiting": max(0, n-2), "running": min(n, 2)}
	}, func(_ int, s *record.Sample) {
		tick++
		s.UtilGPUPct = new(float64(tick%2) * 90)
	})
	d := report(o.Run()).Ladders[0].Rungs[3].Diagnosis
	if d.Verdict != results.Undetermined || d.Reason != "signals of queueing and host-bound stand beside each other" {
		t.Errorf("%+v", d)
	}
}

// Bandwidth bounds where the card is always busy at little power and a token takes as
// long with twice as many at once.
func TestBandwidthBound(t *testing.T) {
	o := observed(func(n float64) map[string]float64 { return map[string]float64{"running": n, "waiting": 0} },
		func(_ int, s *record.Sample) { s.UtilGPUPct, s.PowerW = new(99.0), new(40.0) })
	rep := report(o.Run())
	d := rep.Ladders[0].Rungs[3].Diagnosis
	if d.Verdict != results.ByBandwidth {
		t.Errorf("%+v", d)
	}
	has(t, "evidence", d.Evidence(), "utilisation 99 % at 56 % of the power limit", "TPOT is 1.00 times that at 4")
	has(t, "finding", strings.Join(rep.Ladders[0].Findings, " "), "Bottleneck at 8: the card's memory bandwidth (")
}

// KV memory that runs out without an error lets throughput fall, and that is paging.
func TestThroughputThatFallsByPaging(t *testing.T) {
	x := map[int]float64{4: 150.7, 8: 273.4, 16: 479.1, 32: 780.9, 64: 552.9}
	o := resultstest.Options{
		API: plan.OpenAIChat, Chat: true, Slots: 64, NoGPU: true, Noise: 0.001,
		Service: func(s plan.Shape) float64 { return 64 * float64(s.InFlight) / x[max(s.InFlight, 4)] },
		Ladders: []plan.Ladder{resultstest.Ladder("concurrency", plan.AxisConcurrency, 3, 1, 320, 4, 8, 16, 32, 64)},
		Page: func(s plan.Shape) map[string]float64 {
			return map[string]float64{"running": min(float64(s.InFlight), 40), "waiting": max(0, float64(s.InFlight)-40), "kv_usage": min(1, float64(s.InFlight)/40), "preemptions": max(0, float64(s.InFlight)-40)}
		},
	}
	l := report(o.Run()).Ladders[0]
	if *l.Knee.Best != 32 || *l.Knee.Knee != 64 || l.Edge != nil {
		t.Fatalf("%+v", l.Knee)
	}
	if l.Bottleneck.Verdict != results.ByPaging || l.Bottleneck.Value != 64 || l.Shape == nil || l.Shape.Kind != results.ShapeSlow {
		t.Errorf("%+v, %+v", l.Bottleneck, l.Shape)
	}
	has(t, "findings", strings.Join(l.Findings, " "), "Bottleneck at 64: memory (paging)", "A cliff without an error: 64 does not fail and is slow: 71 % of the throughput at 32")
}

// How an edge fails is told from the rounds around it.
func TestShapesOfAnEdge(t *testing.T) {
	for _, tt := range []struct {
		fails    func(round int, confirm bool) bool
		kind     string
		round    int
		says     string
		advisory bool
	}{
		{func(int, bool) bool { return true }, results.ShapeEachRound, 0, "8 fails in each round", false},
		{func(round int, confirm bool) bool { return confirm || round >= 9 }, results.ShapeFromRound, 10, "8 fails from round 10 on, after 9 rounds that passed", true},
		{func(round int, confirm bool) bool { return !confirm && round == 3 }, results.ShapeAtTimes, 0, "8 fails at times", false},
	} {
		o := resultstest.Options{Ladders: []plan.Ladder{resultstest.Ladder("batch", plan.AxisBatch, 1, 10, 1, 1, 2, 4, 8)}}
		r := o.Run()
		var confirming []record.Request
		for i := range r.Requests {
			q := &r.Requests[i]
			if q.Phase != record.Measure || q.Value != 8 {
				continue
			}
			if q.Round < 3 {
				c := *q
				c.Phase = record.Confirm
				confirming = append(confirming, c)
			}
			if tt.fails(q.Round, false) {
				q.Outcome, q.InputsDone = record.OOM, 0
			}
		}
		for i := range confirming {
			if tt.fails(0, true) {
				confirming[i].Outcome = record.OOM
			}
		}
		r.Requests = append(r.Requests, confirming...)
		l := report(r).Ladders[0]
		if l.Shape == nil || l.Shape.Kind != tt.kind || l.Shape.Round != tt.round || l.Shape.Says != tt.says {
			t.Errorf("%+v, want %s", l.Shape, tt.says)
		}
		if got := strings.Contains(strings.Join(l.Findings, " "), "not for production"); got != tt.advisory {
			t.Errorf("%s: %v", tt.kind, l.Findings)
		}
	}
}
