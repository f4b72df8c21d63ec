package spec

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"rung/spec/plan"
)

func TestPrice(t *testing.T) {
	source := strings.Replace(small(`baseline {
  idle     = "2s"
  warmup   = 1
  requests = 4
}
ladder "batch" {
  rungs    = [1, 64]
  passes   = 2
  rounds   = 2
  requests = 3
  warmup   = 1
  cooldown = "1s"
}
simulator {
  overhead  = "1ms"
  floor     = "10ms"
  per_token = "1ms"
  max_batch = 32
}
`), "tokens = 8", "tokens = 4", 1)
	p := mustLoad(t, source, Options{}).Plan
	got := PriceOf(p, p.Cells[0], SimulatedCost(p))
	if len(got.Visits) != 5 || got.Requests != 5+4*7 || got.InputTokens != 4*(5+14+14*64) || got.Distinct != 5+14+14*64 {
		t.Errorf("%+v", got)
	}
	if want := 2*time.Second + 3*time.Second; got.Least != want {
		t.Errorf("least %s, not %s", got.Least, want)
	}
	if want := 5*time.Second + (5+14)*11*time.Millisecond + 14*257*time.Millisecond; got.Likely != want {
		t.Errorf("likely %s, not %s", got.Likely, want)
	}
	if want := 3.0*64*4*bytesPerID + 64*bytesPerVector; got.Memory != want {
		t.Errorf("memory %g, not %g", got.Memory, want)
	}
}

// In flight together, requests share forwards and slots.
func TestSimulatedCost(t *testing.T) {
	sim := plan.Simulator{Overhead: plan.Duration(time.Millisecond), Floor: plan.Duration(time.Millisecond), PerToken: plan.Duration(time.Millisecond),
		PerOutputToken: plan.Duration(time.Millisecond), MaxBatch: 8, Slots: 4}
	for _, c := range []struct {
		api   plan.API
		shape plan.Shape
		n     float64
		want  time.Duration
	}{
		{plan.OpenAIEmbeddings, plan.Shape{Batch: 1, InputTokens: 10, InFlight: 1}, 10, 110 * time.Millisecond},
		{plan.OpenAIEmbeddings, plan.Shape{Batch: 4, InputTokens: 10, InFlight: 16}, 10, 5 * 81 * time.Millisecond},
		{plan.OpenAIEmbeddings, plan.Shape{Batch: 16, InputTokens: 10, InFlight: 2}, 2, 2 * 161 * time.Millisecond},
		{plan.OpenAIChat, plan.Shape{Batch: 1, InputTokens: 10, OutputTokens: 5, InFlight: 16}, 8, 2 * 16 * time.Millisecond},
	} {
		got := SimulatedCost(plan.Plan{Target: plan.Target{API: c.api}, Simulator: &sim}).Time(c.shape, c.n)
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// What is not a plain closed loop: an open loop with a declared length, a mix, a
// pool, a retest and a confirmation.
func TestPriceOfOtherShapes(t *testing.T) {
	pool := plan.Prompt{Name: "pool", Reuse: plan.Pool, Pool: 7}
	mix := plan.Prompt{Name: "mix", Reuse: plan.Unique, Mix: []plan.Share{{Tokens: 10, Share: 0.5}, {Tokens: 30, Share: 0.5}}}
	c := plan.Cell{
		Ladders: []plan.Ladder{{Name: "closed", Axis: plan.AxisConcurrency, Prompt: pool, Passes: []plan.Pass{{Order: []int{0}}},
			Rungs: []plan.Rung{{Value: 4, Shape: plan.Shape{Batch: 1, InputTokens: 1, InFlight: 4}, Rounds: 1, Duration: plan.Duration(10 * time.Second)}}}, {Name: "rate", Axis: plan.AxisRate, Prompt: pool, Passes: []plan.Pass{{Order: []int{0}}},
			Rungs: []plan.Rung{{Value: 2, Shape: plan.Shape{Batch: 1, InputTokens: 100, InFlight: 64}, Rounds: 2, Duration: plan.Duration(time.Minute)}}}},
		Retests: []plan.Retest{{Ladder: "rate", Prompt: mix, Tokens: 30, Requests: 10}},
		Confirm: &plan.Check{Prompt: pool, Tokens: 100, Requests: 20},
	}
	p := plan.Plan{Target: plan.Target{API: plan.OpenAIEmbeddings}}
	got := PriceOf(p, c, MeasuredCost(time.Second, "a probe"))
	if got.Requests != 40+240+10+20 || got.InputTokens != 40+24000+200+2000 || got.Distinct != 7+10 {
		t.Errorf("%+v", got)
	}
	if got.Least != 130*time.Second || got.Likely != 160*time.Second {
		t.Errorf("least %s, likely %s", got.Least, got.Likely)
	}
}

// A plan of millions of requests is a small thing: it is a recipe.
func TestLargePlanTakesLittle(t *testing.T) {
	source := small("ladder \"batch\" {\n rungs = range(1, 101)\n passes = 100\n rounds = 10\n requests = 90\n warmup = 3\n}\n")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p := mustLoad(t, source, Options{}).Plan
	price := PriceOf(p, p.Cells[0], SimulatedCost(p))
	runtime.ReadMemStats(&after)
	if price.Requests < 9_000_000 {
		t.Errorf("%g requests", price.Requests)
	}
	if mib := (after.TotalAlloc - before.TotalAlloc) >> 20; mib > 100 {
		t.Errorf("allocated %d MiB", mib)
	}
}
