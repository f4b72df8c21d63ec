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

// rates is a server of four slots and 0.1 s a request, which bears 40 requests/s.
func rates(values ...float64) resultstest.Options {
	return resultstest.Options{
		NoGPU: true, Ladders: []plan.Ladder{resultstest.Ladder("rate", plan.AxisRate, 2, 1, 20, values...)},
		Service: func(plan.Shape) float64 { return 0.1 },
	}
}

func TestCapacityIsTheLastRateThatHolds(t *testing.T) {
	rep := report(rates(10, 20, 30, 38, 48, 60).Run())
	l := rep.Ladders[0]
	c := l.Capacity
	if c == nil || c.Value == nil || *c.Value != 38 || c.Beyond == nil || *c.Beyond != 48 || c.AtLeast {
		t.Fatalf("capacity %+v", c)
	}
	if l.Limit.Value != nil || l.Knee.Answer != results.NoAnswer || l.Setting != "" || l.PassesDone != 2 {
		t.Errorf("limit %+v, knee %+v, setting %q, %d passes", l.Limit, l.Knee, l.Setting, l.PassesDone)
	}
	if !slices.Contains(l.Rungs[3].Marks, results.MarkCapacity) {
		t.Errorf("marks %v", l.Rungs[3].Marks)
	}
	has(t, "verdict", rep.Verdict, "The server bears 38 requests/s (48 saturates it; P95 ", "at 70 % of it")
	for _, word := range []string{"onfigure", "max_", "limit"} {
		if strings.Contains(rep.Verdict, word) {
			t.Errorf("the verdict on a rate says %q: %s", word, rep.Verdict)
		}
	}
}

// Successes in the unit over the planned duration: the last send is at 19.9 s of 20.
func TestThroughputOfARateIsOverItsDuration(t *testing.T) {
	r := rates(10, 20).Run()
	g := report(r).Ladders[0].Rungs[0]
	done := 0
	begins := map[int]float64{}
	for _, e := range r.Events {
		if e.Kind == record.RoundBegin && e.Value == 10 {
			begins[e.Pass] = e.TS
		}
	}
	measured(r, 10, func(q *record.Request) {
		if q.DoneTS <= begins[q.Pass]+20 {
			done++
		}
	})
	if want := float64(done) / 40; *g.Throughput != want || g.Open.DonePerS != want {
		t.Errorf("throughput %g, achieved %g, want %g", *g.Throughput, g.Open.DonePerS, want)
	}
	o := g.Open
	if o.Arrivals != 400 || o.OfferedPerS != 10 || o.Dropped != 0 || math.Abs(*o.LateP95S-0.0002) > 1e-9 || o.Few || o.Saturated {
		t.Errorf("%+v", o)
	}
}

// A round that waits long for its first arrival is as long as it was planned to be.
func TestRateRoundBeginsWithItsEvent(t *testing.T) {
	r := rates(10).Run()
	measured(r, 10, func(q *record.Request) {
		if q.Index < 50 {
			q.Phase = record.Probe
		}
	})
	if o := report(r).Ladders[0].Rungs[0].Open; o.OfferedPerS != 7.5 || math.Abs(o.DonePerS-7.45) > 0.051 {
		t.Errorf("offered %g, achieved %g of 150 in 20 s", o.OfferedPerS, o.DonePerS)
	}
}

func TestNoRateSaturates(t *testing.T) {
	rep := report(rates(2, 4, 8).Run())
	c := rep.Ladders[0].Capacity
	if *c.Value != 8 || !c.AtLeast || c.Beyond != nil {
		t.Errorf("%+v", c)
	}
	has(t, "verdict", rep.Verdict, "The server bears at least 8 requests/s (the last rate, and it held")
}

func TestFirstRateSaturates(t *testing.T) {
	rep := report(rates(60, 80).Run())
	if c := rep.Ladders[0].Capacity; c.Value != nil || *c.Beyond != 60 || len(c.Below) > 0 {
		t.Errorf("%+v", c)
	}
	has(t, "verdict", rep.Verdict, "Nothing to configure yet", "gives no capacity, since 60 saturates the server")
}

// Requests that take long end behind the window and lower the ratio, but do not pile
// up: that is no saturation. Where they are dropped, that they don't pile up says
// nothing.
func TestLongRequestsAreNoSaturation(t *testing.T) {
	o := rates(2, 4)
	o.Service, o.Slots = func(plan.Shape) float64 { return 2 }, 64
	l := report(o.Run()).Ladders[0]
	if g := l.Rungs[1].Open; g.Ratio >= 0.98 || *g.Growth > 0.5 || g.Saturated {
		t.Errorf("%+v", g)
	}
	o = rates(10, 200)
	if g := report(o.Run()).Ladders[0].Rungs[1].Open; !g.Saturated || g.Dropped == 0 || !strings.Contains(g.Why, "dropped") {
		t.Errorf("%+v", g)
	}
}

// P95 at 70 % of 40 lies between 20 and 30; at 85 % between 30 and 40. Below the
// lowest rate nothing is known.
func TestLatencyBelowCapacityIsInterpolated(t *testing.T) {
	r := rates(20, 30, 40).Run()
	for rate, ms := range map[float64]float64{20: 100, 30: 200, 40: 400} {
		measured(r, rate, func(q *record.Request) { q.DoneTS = q.DueTS + ms/1000 })
	}
	c := report(r).Ladders[0].Capacity
	if len(c.Below) != 2 || math.Abs(*c.Below[0].P95S-0.18) > 1e-9 || math.Abs(*c.Below[1].P95S-0.28) > 1e-9 || !c.Below[0].Supported {
		t.Errorf("%+v", c.Below)
	}
	c = report(rates(30, 34).Run()).Ladders[0].Capacity
	if b := c.Below[0]; b.P95S != nil || !strings.Contains(b.Reason, "not measured") {
		t.Errorf("%+v: extrapolated", b)
	}
}

func TestFewArrivalsAreSaid(t *testing.T) {
	rep := report(rates(1, 2).Run())
	l := rep.Ladders[0]
	if !l.Rungs[0].Open.Few || l.Rungs[1].Open.Few || l.Rungs[1].Open.Arrivals != 80 {
		t.Errorf("%+v, %+v", l.Rungs[0].Open, l.Rungs[1].Open)
	}
	has(t, "findings", strings.Join(l.Findings, " "), "At 1 only 40 requests came due")
}

// A rate at which the server fails is an edge, and the capacity lies below.
func TestRateWithAnEdge(t *testing.T) {
	r := rates(10, 20, 30).Run()
	measured(r, 30, func(q *record.Request) {
		if q.Index%10 == 0 {
			q.Outcome = record.Overloaded
		}
	})
	rep := report(r)
	if c := rep.Ladders[0].Capacity; *c.Value != 20 || c.AtLeast {
		t.Errorf("%+v", c)
	}
	has(t, "verdict", rep.Verdict, "bears 20 requests/s (30 fails: overloaded")
}

// A ladder of outputs gives the longest that passed, in its own words.
func TestOutputTokens(t *testing.T) {
	o := resultstest.Options{
		API: plan.OpenAIChat, Chat: true, NoGPU: true,
		Ladders: []plan.Ladder{resultstest.Ladder("output", plan.AxisOutputTokens, 1, 4, 5, 100, 200, 400, 800)},
		Service: func(s plan.Shape) float64 { return 0.05 + 0.002*float64(s.OutputTokens) }, Noise: 1e-9,
		Fails: func(s plan.Shape) (record.Outcome, int) {
			if s.OutputTokens == 800 {
				return record.Timeout, 2
			}
			return record.OK, 0
		},
	}
	rep := report(o.Run())
	l := rep.Ladders[0]
	if *l.Limit.Value != 400 || l.Setting != "max_output_tokens" || l.Limit.Reason != "the longest output that passed" || l.Unit != "output tokens/s" {
		t.Errorf("limit %+v of %s in %s", l.Limit, l.Setting, l.Unit)
	}
	if s := l.Slope; s == nil || math.Abs(s.SPer1000-2) > 1e-3 || s.From != 100 || s.To != 400 || s.Of != "output tokens" {
		t.Errorf("slope %+v, want 2 s per 1,000", s)
	}
	has(t, "verdict", rep.Verdict, "Configure max_output_tokens 400 (800 fails: timeout)")
	if strings.Contains(asJSON(t, &results.Report{Ladders: rep.Ladders}), "max_input_tokens") || l.Rungs[1].Increment != nil {
		t.Error("words or gains of another axis")
	}
}

// Along input_tokens the throughput is of tokens, and a rung has no gain over another.
func TestInputTokensAreTheUnit(t *testing.T) {
	o := resultstest.Options{NoGPU: true, Ladders: []plan.Ladder{resultstest.Ladder("length", plan.AxisInputTokens, 1, 4, 5, 512, 1024)}}
	r := o.Run()
	l := report(r).Ladders[0]
	if l.Unit != "input tokens/s" || l.Rungs[1].Increment != nil || math.Abs(*l.Rungs[0].Throughput-512/l.Rungs[0].Latency.MeanS) > 1 {
		t.Errorf("%s, %+v", l.Unit, l.Rungs[0])
	}
	measured(r, 512, func(q *record.Request) { q.InputTokens = nil })
	if l = report(r).Ladders[0]; l.Unit != "inputs/s" || !strings.Contains(l.UnitReason, "input tokens are not known") {
		t.Errorf("%s, %q", l.Unit, l.UnitReason)
	}
}
