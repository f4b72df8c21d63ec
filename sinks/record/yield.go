package record

import "slices"

// Yield is what a rung gave, over the attempts of rounds that were added: what the stop
// rules of slowness look at, in the runner and in the report alike.
type Yield struct {
	Latencies []float64 // seconds, of the successes

	inputs    Flow
	tokens    Flow
	requests  Flow
	uncounted bool // some success that ended in a steady window has no count of output tokens
}

// Gift is what one request gave.
type Gift struct {
	OK     bool // it was answered well
	Inputs int  // vectors or choices that came back right
	Tokens *int // of output; nil where the server did not count them
}

// Add adds one attempt of one round that counts. gift is given the place of a request in
// the round's times.
func (y *Yield) Add(r Round, gift func(i int) Gift) {
	add := func(f *Flow, worth func(Gift) float64) {
		f.Add(r, func(i int) float64 {
			if g := gift(i); g.OK {
				return worth(g)
			}
			return 0
		})
	}
	add(&y.inputs, func(g Gift) float64 { return float64(g.Inputs) })
	add(&y.requests, func(Gift) float64 { return 1 })
	add(&y.tokens, func(g Gift) float64 {
		if g.Tokens == nil {
			y.uncounted = true
			return 0
		}
		return float64(*g.Tokens)
	})
	for i, t := range r.Times {
		if gift(i).OK {
			y.Latencies = append(y.Latencies, t.LatencyS())
		}
	}
}

// P95 is that of the latencies, in seconds; 0 where nothing succeeded.
func (y *Yield) P95() float64 {
	if len(y.Latencies) == 0 {
		return 0
	}
	return QuantileOf(slices.Clone(y.Latencies), 0.95)
}

// Throughput is inputs a second or, of an API that generates, output tokens a second;
// requests a second where a server did not count those.
func (y *Yield) Throughput(generates bool) float64 {
	switch {
	case !generates:
		return y.inputs.Rate()
	case y.uncounted:
		return y.requests.Rate()
	default:
		return y.tokens.Rate()
	}
}
