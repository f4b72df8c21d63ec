package results

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"rung/results/rows"
	"rung/sinks/record"
	"rung/spec/plan"
)

// longest is more seconds than any run takes. Times beyond it, and sums of them,
// are no times.
const longestRun = 1e9

// sound gives the run without rows whose times cannot be (not a number, beyond
// any run, an end before its beginning), and how many those were.
func (r *Run) sound() (*Run, int) {
	requests := r.Requests.Where(func(q rows.Row) bool {
		never := q.Outcome == record.Dropped
		return isTime(q.DueTS) && (never || isTime(q.SentTS) && isTime(q.DoneTS) && q.DoneTS >= q.DueTS && q.DoneTS >= q.SentTS)
	})
	samples := keep(r.Samples, func(s record.Sample) bool { return isTime(s.TS) })
	events := keep(r.Events, func(e record.Event) bool { return isTime(e.TS) })
	client := keep(r.Client, func(s record.ClientSample) bool { return isTime(s.TS) })
	metrics := keep(r.Metrics, func(g rows.Gauge) bool { return isTime(g.TS) })
	lost := r.Requests.Len() + len(r.Samples) + len(r.Events) + len(r.Client) + len(r.Metrics) -
		requests.Len() - len(samples) - len(events) - len(client) - len(metrics)
	if lost == 0 {
		return r, 0
	}
	clean := *r
	clean.Requests, clean.Samples, clean.Events, clean.Client, clean.Metrics = requests, samples, events, client, metrics
	return &clean, lost
}

func isTime(t float64) bool { return t >= -longestRun && t <= longestRun }

// keep leaves out what is not wanted; without such it is the slice itself.
func keep[T any](all []T, wanted func(T) bool) []T {
	first := slices.IndexFunc(all, func(v T) bool { return !wanted(v) })
	if first < 0 {
		return all
	}
	out := slices.Clone(all[:first])
	for _, v := range all[first:] {
		if wanted(v) {
			out = append(out, v)
		}
	}
	return out
}

// unsoundKnee says which of a knee rule's thresholds is none; "" where all are
// within the language's bounds.
func unsoundKnee(k plan.Knee) string {
	for _, c := range []struct {
		name            string
		value, from, to float64
	}{
		{"elasticity", k.Elasticity, 0.01, 1}, {"tie", k.Tie, 0, 0.9}, {"p95_rise", k.P95Rise, 1, 100},
		{"factor", k.Factor, 0, 10}, {"flat", k.Flat, 0, 1}, {"gain", k.Gain, 0, 10}, {"p95_over_baseline", k.P95OverBaseline, 0, 1000},
	} {
		if !within(c.value, c.from, c.to) {
			return fmt.Sprintf("%s lies outside %g to %g", c.name, c.from, c.to)
		}
	}
	return ""
}

// mostReserve bounds headroom.reserve_rungs, as the language does.
const mostReserve = 1000

func unsoundHeadroom(h plan.Headroom) string {
	switch {
	case !within(h.Safety, 0, 0.99):
		return "safety lies outside 0 to 0.99"
	case h.ReserveRungs < 0 || h.ReserveRungs > mostReserve:
		return fmt.Sprintf("reserve_rungs lies outside 0 to %d", mostReserve)
	}
	return ""
}

func within(x, from, to float64) bool { return x >= from && x <= to }

// finite is x, or nil where it is no number.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// sweep takes every figure that is no number out of a report: a pointer to one
// becomes nil, a figure without a pointer 0. It gives how many there were. Nothing
// should be left to it; JSON has no word for them, and a report must not fail.
func sweep(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return 0
		}
		if e := v.Elem(); e.Kind() == reflect.Float64 && finite(e.Float()) == nil && v.CanSet() {
			v.SetZero()
			return 1
		}
		return sweep(v.Elem())
	case reflect.Float64:
		if finite(v.Float()) == nil && v.CanSet() {
			v.SetFloat(0)
			return 1
		}
	case reflect.Struct:
		for _, f := range v.Fields() {
			n += sweep(f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			n += sweep(v.Index(i))
		}
	default:
	}
	return n
}
