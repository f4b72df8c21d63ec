package results

import (
	"rung/sinks/record"
	"rung/spec/plan"
)

// The units of throughput.
const (
	inputsPerS   = "inputs/s"
	tokensPerS   = "output tokens/s"
	requestsPerS = "requests/s"
)

// unit is what the throughput of a ladder counts, and how much of it one success
// is worth.
type unit struct {
	name   string
	reason string // why it is not the axis' own
	worth  func(record.Request) float64
}

// unitOf picks the ladder's unit: inputs/s for embeddings, output tokens/s for
// chats, and requests/s where a server did not say how many tokens it gave.
func unitOf(api plan.API, all visits) unit {
	if api != plan.OpenAIChat {
		return unit{name: inputsPerS, worth: func(r record.Request) float64 { return float64(r.InputsDone) }}
	}
	for _, a := range all.counted() {
		for _, r := range a.rows {
			if r.Outcome == record.OK && r.OutputTokens == nil {
				return unit{
					name: requestsPerS, reason: "answers without usage: output tokens are not known, so requests are counted",
					worth: func(record.Request) float64 { return 1 },
				}
			}
		}
	}
	return unit{name: tokensPerS, worth: func(r record.Request) float64 {
		if r.OutputTokens == nil {
			return 0
		}
		return float64(*r.OutputTokens)
	}}
}

// flow is work done in steady windows and the windows' summed length, seconds.
type flow struct{ work, span, busy float64 }

// flow adds up the steady windows of attempts: the work of the successes whose
// end lies in its attempt's window, so that the tail in which the last requests
// drain is neither in the work nor in the time.
func (v visits) flow(u unit) flow {
	var f flow
	for _, a := range v {
		w := record.SteadyWindow(a.rows)
		if w.Len() <= 0 {
			continue
		}
		f.span += w.Len()
		f.busy += record.MeanInFlight(a.rows, w) * w.Len()
		for _, r := range a.rows {
			if r.Outcome == record.OK && r.DoneTS <= w.End {
				f.work += u.worth(r)
			}
		}
	}
	return f
}

// rate is the work per second; nil without a window or without work: nothing can
// be held against a throughput of 0.
func (f flow) rate() *float64 {
	if f.work <= 0 {
		return nil
	}
	return f.over(f.work)
}

// inFlight is the mean number of requests in flight; nil without a window.
func (f flow) inFlight() *float64 { return f.over(f.busy) }

func (f flow) over(x float64) *float64 {
	if f.span <= 0 {
		return nil
	}
	return finite(x / f.span)
}

// rates gives the throughput of each attempt that has a window.
func (v visits) rates(u unit) []float64 {
	var out []float64
	for i := range v {
		if x := v[i : i+1].flow(u).rate(); x != nil {
			out = append(out, *x)
		}
	}
	return out
}
