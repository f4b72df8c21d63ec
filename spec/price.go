package spec

import (
	"fmt"
	"math"
	"slices"
	"time"

	"rung/spec/plan"
)

// Price is what a run of a cell sends and takes, as far as the plan tells. Rounds
// that are run again and probes are not in it.
type Price struct {
	Visits       []Visit // in the order in which they are made
	Requests     float64 // warm-ups too; an expectation where rounds have a duration, as what follows is
	InputTokens  float64
	OutputTokens float64 // asked; at most
	Distinct     float64 // prompts of which no two are alike
	Least        time.Duration
	Likely       time.Duration
	Memory       float64 // bytes that the client holds at once, at most
}

// Visit is one stop of a run: the baseline, a rung in one pass, or a check at a
// limit, whose batch and whose requests in flight are not known before.
type Visit struct {
	Kind         string  // baseline, ladder, retest, confirm
	Ladder       string  // of a ladder and of a retest
	Pass         int     // from 0 on
	Up           bool    // of the pass
	Rung         int     // its index
	Value        float64 // of the rung
	Rounds       int
	PerRound     float64 // requests in a round
	Requests     float64 // warm-ups too
	InFlight     int
	InputTokens  float64
	OutputTokens float64
	Pause        time.Duration // before it
	Least        time.Duration // with the pause
	Likely       time.Duration // with the pause
}

// Plus adds a visit of the same rung in another pass.
func (v Visit) Plus(o Visit) Visit {
	v.Requests += o.Requests
	v.InputTokens += o.InputTokens
	v.OutputTokens += o.OutputTokens
	v.Pause, v.Least, v.Likely = sat(v.Pause, o.Pause), sat(v.Least, o.Least), sat(v.Likely, o.Likely)
	return v
}

// Plus adds the price of another cell. Cells are run one after the other, so the
// client holds what the larger needs.
func (p Price) Plus(o Price) Price {
	p.Visits = slices.Concat(p.Visits, o.Visits)
	p.Requests += o.Requests
	p.InputTokens += o.InputTokens
	p.OutputTokens += o.OutputTokens
	p.Distinct += o.Distinct
	p.Least, p.Likely = sat(p.Least, o.Least), sat(p.Likely, o.Likely)
	p.Memory = max(p.Memory, o.Memory)
	return p
}

// Cost is how long a server takes, and by which assumption.
type Cost struct {
	Assumption string
	Time       func(s plan.Shape, requests float64) time.Duration // for so many requests in a closed loop
}

// SimulatedCost is the time of the simulated server that the plan has, or of the
// default one, in closed form: what is in flight is merged into full forwards, and
// chats fill the slots.
func SimulatedCost(p plan.Plan) Cost {
	sim := plan.DefaultSimulator()
	if p.Simulator != nil {
		sim = *p.Simulator
	}
	return Cost{
		Assumption: "if the server answered as the simulated one does; --ask measures the real one",
		Time: func(s plan.Shape, requests float64) time.Duration {
			batch, tokens, together := float64(max(1, s.Batch)), float64(s.InputTokens), float64(max(1, s.InFlight))
			if p.Target.API.Generates() {
				together = min(together, float64(max(1, sim.Slots)))
				one := forward(sim, tokens) + float64(s.OutputTokens)*float64(sim.PerOutputToken)
				return nanos(math.Ceil(requests/together) * one)
			}
			together = min(together, max(1, math.Floor(float64(sim.MaxBatch)/batch)))
			return nanos(math.Ceil(requests/together) * forward(sim, together*batch*tokens))
		},
	}
}

func forward(sim plan.Simulator, tokens float64) float64 {
	return float64(sim.Overhead) + max(float64(sim.Floor), tokens*float64(sim.PerToken))
}

// MeasuredCost takes every request to last as long as one that was measured,
// whatever its size, with all that are in flight served at once.
func MeasuredCost(latency time.Duration, what string) Cost {
	return Cost{
		Assumption: fmt.Sprintf("if each took %s, as %s did, whatever its size", latency.Round(time.Microsecond), what),
		Time: func(s plan.Shape, requests float64) time.Duration {
			return nanos(math.Ceil(requests/float64(max(1, s.InFlight))) * float64(latency))
		},
	}
}

// nanos is a time that never overflows.
func nanos(ns float64) time.Duration {
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}

// PriceOf adds up one cell. The least time is that of pauses and of rounds whose
// length is declared, with a server that answers at once.
func PriceOf(p plan.Plan, c plan.Cell, cost Cost) Price {
	b := bill{cost: cost, api: p.Target.API, pools: map[string]bool{}}
	if v := c.Baseline; v != nil {
		b.add(Visit{Kind: "baseline", Rounds: 1, PerRound: float64(v.Requests), Pause: v.Idle.D()}, v.Prompt, v.Shape, v.Warmup, 0)
	}
	first := true // the first rung of all needs no cool-down
	for _, l := range c.Ladders {
		for _, pass := range l.Passes {
			for _, i := range pass.Order {
				b.rung(l, pass, l.Rungs[i], first)
				first = false
			}
		}
	}
	for _, r := range c.Retests {
		s := plan.Shape{Batch: 1, InputTokens: r.Tokens, OutputTokens: r.Output, InFlight: 1}
		b.add(Visit{Kind: "retest", Ladder: r.Ladder, Rounds: 1, PerRound: float64(r.Requests)}, r.Prompt, s, r.Warmup, 0)
	}
	if v := c.Confirm; v != nil {
		s := plan.Shape{Batch: 1, InputTokens: v.Tokens, OutputTokens: v.Output, InFlight: 1}
		b.add(Visit{Kind: "confirm", Rounds: 1, PerRound: float64(v.Requests)}, v.Prompt, s, v.Warmup, 0)
	}
	return b.price
}

// bill is a price while it is added up.
type bill struct {
	price Price
	cost  Cost
	api   plan.API
	pools map[string]bool // prompts whose few texts were counted
}

func (b *bill) rung(l plan.Ladder, pass plan.Pass, r plan.Rung, first bool) {
	v := Visit{Kind: "ladder", Ladder: l.Name, Pass: pass.Index, Up: pass.Up, Rung: r.Index, Value: r.Value, Rounds: r.Rounds, PerRound: float64(r.Requests)}
	if !first {
		v.Pause = l.Cooldown.D()
	}
	switch {
	case r.Duration == 0:
	case l.Axis == plan.AxisRate:
		v.PerRound = math.Round(r.Value * r.Duration.D().Seconds())
	default: // as many as the server answers
		one := float64(max(1, b.cost.Time(r.Shape, float64(r.Shape.InFlight))))
		v.PerRound = math.Ceil(float64(r.Shape.InFlight) * float64(r.Duration) / one)
	}
	b.add(v, l.Prompt, r.Shape, r.Warmup, r.Duration.D())
}

// add counts one visit; duration is that of each of its rounds, where it is
// declared.
func (b *bill) add(v Visit, p plan.Prompt, s plan.Shape, warmup int, duration time.Duration) {
	v.Requests, v.InFlight = float64(warmup)+float64(v.Rounds)*v.PerRound, s.InFlight
	v.InputTokens = v.Requests * float64(s.Batch) * meanTokens(p, s)
	v.OutputTokens = v.Requests * float64(s.OutputTokens)
	rounds := nanos(float64(v.Rounds) * float64(duration))
	v.Least = sat(v.Pause, rounds)
	v.Likely = sat(v.Pause, b.cost.Time(s, float64(warmup)))
	if duration > 0 {
		v.Likely = sat(v.Likely, rounds)
	} else {
		v.Likely = sat(v.Likely, nanos(float64(v.Rounds)*float64(b.cost.Time(s, v.PerRound))))
	}
	t := &b.price
	t.Visits = append(t.Visits, v)
	t.Requests += v.Requests
	t.InputTokens += v.InputTokens
	t.OutputTokens += v.OutputTokens
	t.Least, t.Likely = sat(t.Least, v.Least), sat(t.Likely, v.Likely)
	t.Memory = max(t.Memory, b.held(s, max(v.PerRound, float64(warmup))))
	t.Distinct += b.distinct(p, v.Requests*float64(s.Batch))
}

// sat adds times that never overflow.
func sat(a, b time.Duration) time.Duration { return nanos(float64(a) + float64(b)) }

// meanTokens is an input's length, of a mix the mean.
func meanTokens(p plan.Prompt, s plan.Shape) float64 {
	if len(p.Mix) == 0 {
		return float64(s.InputTokens)
	}
	mean := 0.0
	for _, m := range p.Mix {
		mean += m.Share * float64(m.Tokens)
	}
	return mean
}

// distinct counts the prompts that are not alike: those of a pool once, wherever it
// is used.
func (b *bill) distinct(p plan.Prompt, inputs float64) float64 {
	if p.Reuse != plan.Same && p.Reuse != plan.Pool {
		return inputs
	}
	if b.pools[p.Name] {
		return 0
	}
	b.pools[p.Name] = true
	return float64(max(1, p.Pool))
}

// What a token takes in a body, as digits or as text, and a vector in an answer.
const (
	bytesPerID     = 8
	bytesPerWord   = 6
	bytesPerVector = 32 << 10 // 2,048 dimensions as text
)

// held is what the client holds of one round: all its bodies, made before its clock
// starts, and the answers of what is in flight.
func (b *bill) held(s plan.Shape, requests float64) float64 {
	inputs := float64(s.Batch)
	if b.api.Generates() {
		return requests*inputs*float64(s.InputTokens)*bytesPerWord + float64(s.InFlight)*float64(s.OutputTokens)*bytesPerWord
	}
	return requests*inputs*float64(s.InputTokens)*bytesPerID + float64(s.InFlight)*inputs*bytesPerVector
}
