package results_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rung/results"
	"rung/results/resultstest"
	"rung/sinks/record"
	"rung/spec/plan"
)

// paged is a chat server on a pool that it took at its start: 4 of 32 requests wait at
// 8, and from there on the pool is nearly full.
func paged() resultstest.Options {
	return resultstest.Options{
		API: plan.OpenAIChat, Chat: true, Idle: 20 * resultstest.GiB, Used: func(plan.Shape) int64 { return 20*resultstest.GiB + 64<<20 },
		Service: func(plan.Shape) float64 { return 0.5 },
		Ladders: []plan.Ladder{resultstest.Ladder("concurrency", plan.AxisConcurrency, 3, 1, 40, 1, 2, 4, 8)},
		Page: func(s plan.Shape) map[string]float64 {
			n := float64(s.InFlight)
			return map[string]float64{"running": min(n, 4), "waiting": max(0, n-4), "kv_usage": min(0.97, 0.1+0.15*min(n, 4)), "preemptions": max(0, n-4)}
		},
		Card: func(_ plan.Shape, s *record.Sample) { s.PowerW, s.SMClockMHz = new(48.0), new(1980.0) },
	}
}

// What the server and the card showed while a rung's windows lasted is in its figures.
func TestGaugesOfARung(t *testing.T) {
	r := paged().Run()
	rep := report(r)
	rungs := rep.Ladders[0].Rungs
	g := rungs[3].Gauges
	if g == nil || g.Readings < 20 || *g.WaitingMean != 4 || *g.WaitingMost != 4 || *g.WaitingShare != 1 || *g.RunningMean != 4 || *g.KVUsageMost != 0.7 {
		t.Fatalf("at 8: %+v", g)
	}
	if *g.Preemptions < 4*20 || *rungs[2].Gauges.Preemptions != 0 || *rungs[2].Gauges.WaitingShare != 0 {
		t.Errorf("preemptions %v at 8, %v at 4", *g.Preemptions, *rungs[2].Gauges.Preemptions)
	}
	c := rungs[3].Card
	if c == nil || c.Samples < 20 || *c.UtilMean != 93 || math.Abs(*c.PowerOf-48.0/72) > 1e-9 || *c.ClockMHz != 1980 || *c.ClockLeast != 1 || c.Slowed != 0 {
		t.Errorf("at 8: %+v", c)
	}
	if got := rep.Run.Counts.Server; got == 0 || got != int64(len(r.Metrics)) {
		t.Errorf("the report counts %d rows of the page, and there are %d", got, len(r.Metrics))
	}
	if d := cmp.Diff([]string{"waiting", "running", "kv_usage", "kv_tokens", "preemptions"}, rep.Metrics.Series); d != "" {
		t.Error(d)
	}
}

// Without the server's page nothing of it is known, and that is said.
func TestNoGauges(t *testing.T) {
	rep := report(resultstest.Small().Run())
	if rep.Ladders[0].Rungs[0].Gauges != nil || rep.Metrics.Reason != "the server's own metrics were not read" || rep.Memory.Headroom.Pool != nil {
		t.Errorf("%+v, %+v", rep.Ladders[0].Rungs[0].Gauges, rep.Metrics)
	}
	r := paged().Run()
	r.Manifest.Metrics.Lost = "status 404"
	r.Metrics = nil
	if got := report(r).Metrics.Reason; got != "the server's own metrics could not be read: status 404" {
		t.Error(got)
	}
}

// A counter that begins anew with its server has not shrunk.
func TestPreemptionsOverARestart(t *testing.T) {
	r := paged().Run()
	want := *report(r).Ladders[0].Rungs[3].Gauges.Preemptions
	reset, base := 0.0, 0.0
	for _, e := range r.Events {
		if e.Kind == record.RungBegin && e.Value == 8 && e.Pass == 1 {
			reset = e.TS
		}
	}
	for i := range r.Metrics {
		s := &r.Metrics[i]
		if s.Series != "preemptions" {
			continue
		}
		if s.TS < reset {
			base = *s.Value
			continue
		}
		s.Value = new(*s.Value - base)
	}
	if got := *report(r).Ladders[0].Rungs[3].Gauges.Preemptions; got != want || got == 0 {
		t.Errorf("%g preemptions, and %g without a restart", got, want)
	}
}

// A pool's own gauge says what is free of it; the bytes in use say nothing.
func TestHeadroomOfAPool(t *testing.T) {
	rep := report(paged().Run())
	h := rep.Memory.Headroom
	if h.AvailableBytes != nil || h.Pool == nil || !rep.Memory.Preallocated {
		t.Fatalf("%+v", h)
	}
	p := h.Pool
	if *rep.Ladders[0].Limit.Value != 4 || p.UsageMost != 0.7 || math.Abs(p.Free-0.3) > 1e-9 || p.At != "concurrency 4" || *p.Tokens != 65536 {
		t.Errorf("%+v", p)
	}
	// 0.1 + 0.15 n reaches 1 at 6; its 65536 tokens would hold 128 of 512.
	if p.Capacity == nil || *p.Capacity != 6 || !strings.Contains(p.CapacityBy, "by a line through the rungs") {
		t.Errorf("capacity %v, %s", *p.Capacity, p.CapacityBy)
	}
	if len(rep.Memory.Slopes) > 0 {
		t.Errorf("slopes of a pool: %+v", rep.Memory.Slopes)
	}
}

// A gauge that stays at 0 is that of a model without such memory.
func TestPoolThatStaysEmpty(t *testing.T) {
	o := resultstest.Small()
	o.Page = func(plan.Shape) map[string]float64 { return nil }
	rep := report(o.Run())
	if rep.Memory.Preallocated || rep.Memory.Headroom.Pool != nil || rep.Memory.Headroom.AvailableBytes == nil {
		t.Errorf("%+v", rep.Memory)
	}
}

// A limit of a server that took its memory up front is not refused for how full the
// card is.
func TestCheckOfAPool(t *testing.T) {
	o := paged()
	o.Idle, o.Used = 23*resultstest.GiB, func(plan.Shape) int64 { return 23 * resultstest.GiB }
	o.Confirm, o.Limits = &plan.Check{Prompt: plan.Prompt{Name: "p512"}, Tokens: 512, Warmup: 2, Requests: 60}, map[string]float64{"concurrency": 4}
	if k := report(o.Run()).Checks[0]; k.Verdict != results.Confirmed {
		t.Errorf("%+v", k)
	}
}

// A utilisation of 0 whatever the card does is none.
func TestUtilisationThatIsNotTold(t *testing.T) {
	o := paged()
	o.Card = nil
	r := o.Run()
	for i := range r.Samples {
		r.Samples[i].UtilGPUPct = new(0.0)
	}
	if c := report(r).Ladders[0].Rungs[3].Card; c == nil || c.UtilMean != nil || c.IdleShare != nil || c.PowerMean != nil {
		t.Errorf("%+v", c)
	}
}
