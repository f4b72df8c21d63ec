package results

import (
	"rung/results/rows"
	"rung/sinks/record"
	"rung/spec/plan"
)

// The units of throughput.
const (
	inputsPerS   = "inputs/s"
	tokensPerS   = "output tokens/s"
	requestsPerS = "requests/s"
	inputTokPerS = "input tokens/s"
)

// unit is what the throughput of a ladder counts, and how much of it one success
// is worth.
type unit struct {
	name   string
	reason string // why it is not the axis' own
	worth  func(*rows.Kind) float64
}

// unitOf picks a ladder's unit: along input_tokens the tokens that went in, since the
// inputs of one rung are other work than those of the next; else what the API gives.
func unitOf(api plan.API, axis plan.Axis, all visits) unit {
	u := given(api, all)
	if axis != plan.AxisInputTokens {
		return u
	}
	for k := range all.counted().succeeded() {
		if k.InputTokens == nil {
			u.reason = "answers without usage: input tokens are not known, so others are counted"
			return u
		}
	}
	return unit{name: inputTokPerS, worth: func(k *rows.Kind) float64 {
		if k.InputTokens == nil {
			return 0
		}
		return float64(*k.InputTokens)
	}}
}

// given is the unit of what a server gives: inputs/s for embeddings, output tokens/s
// for chats, and requests/s where it did not say how many tokens those were.
func given(api plan.API, all visits) unit {
	if !api.Generates() {
		return unit{name: inputsPerS, worth: func(k *rows.Kind) float64 { return float64(k.InputsDone) }}
	}
	for k := range all.counted().succeeded() {
		if k.OutputTokens == nil {
			u := requests()
			u.reason = "answers without usage: output tokens are not known, so requests are counted"
			return u
		}
	}
	return unit{name: tokensPerS, worth: func(k *rows.Kind) float64 {
		if k.OutputTokens == nil {
			return 0
		}
		return float64(*k.OutputTokens)
	}}
}

// flow is work done in steady windows and the windows' summed length.
type flow record.Flow

// worths gives what each request of an attempt is worth, by its place.
type worths func(a attempt) func(i int) float64

// each is how much of a unit a request gave: nothing where it is no success.
func (u unit) each(a attempt) func(i int) float64 {
	return func(i int) float64 {
		if k := a.rows.Kind(i); k.Outcome == record.OK {
			return u.worth(k)
		}
		return 0
	}
}

// requests is the unit in which each success is worth one.
func requests() unit { return unit{name: requestsPerS, worth: func(*rows.Kind) float64 { return 1 }} }

// flow adds up the steady windows of attempts.
func (v visits) flow(of worths) flow {
	var f record.Flow
	for _, a := range v {
		f.Add(a.rows.Round(), of(a))
	}
	return flow(f)
}

// rate is the work per second; nil without a window or without work: nothing can
// be held against a throughput of 0.
func (f flow) rate() *float64 {
	if f.Work <= 0 {
		return nil
	}
	return f.over(f.Work)
}

// inFlight is the mean number of requests in flight; nil without a window.
func (f flow) inFlight() *float64 { return f.over(f.Busy) }

func (f flow) over(x float64) *float64 {
	if f.Span <= 0 {
		return nil
	}
	return finite(x / f.Span)
}

// rates gives the throughput of each attempt that has a window.
func (w *walked) rates(v visits, rung int) []float64 {
	var out []float64
	for i := range v {
		if x := w.flow(v[i:i+1], rung, w.unit.each).rate(); x != nil {
			out = append(out, *x)
		}
	}
	return out
}
