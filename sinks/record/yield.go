package record

import "slices"

// Yield is what a rung gave, over the attempts of rounds that were added: what the stop
// rules of slowness look at, in the runner and in the report alike.
type Yield struct {
	Latencies []float64 // seconds, of the successes

	inputs    Flow
	tokens    Flow
	requests  Flow
	uncounted bool // some success has no count of output tokens
}

// Add adds the rows of one attempt of one round that counts.
func (y *Yield) Add(rows []Request) {
	y.inputs.Add(rows, func(r Request) float64 { return float64(r.InputsDone) })
	y.requests.Add(rows, func(Request) float64 { return 1 })
	y.tokens.Add(rows, func(r Request) float64 {
		if r.OutputTokens == nil {
			y.uncounted = true
			return 0
		}
		return float64(*r.OutputTokens)
	})
	for _, r := range rows {
		if r.Outcome == OK {
			y.Latencies = append(y.Latencies, r.LatencyS())
		}
	}
}

// P95 is that of the latencies, in seconds; 0 where nothing succeeded.
func (y *Yield) P95() float64 {
	if len(y.Latencies) == 0 {
		return 0
	}
	return Quantile(slices.Sorted(slices.Values(y.Latencies)), 0.95)
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
