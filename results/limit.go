package results

import (
	"fmt"
	"math"

	"rung/spec/plan"
)

// What can bind a limit.
const (
	BoundKnee   = "knee"
	BoundEdge   = "edge"
	BoundP95    = "p95"
	BoundMemory = "memory"
	BoundLast   = "last_rung"
)

// lengthOf names what a ladder without a knee makes longer.
func lengthOf(a plan.Axis) string {
	if a == plan.AxisOutputTokens {
		return "output"
	}
	return "input"
}

// findLimit says what gets configured before memory is looked at: the best rung
// (interactive) or the knee (offline), never above the boundary, and on
// concurrency ladders never above the last rung whose P95 is within the declared
// ratio of the baseline's.
func (w *walked) findLimit(b Baseline) {
	l, out := w.out, &w.out.Limit
	switch {
	case len(l.Rungs) == 0:
		out.Reason = "nothing was measured: " + l.Ended
	case w.edge == l.Rungs[0].Index:
		out.Reason = l.BoundaryReason
	case l.NotRising != "":
		out.Reason = "the rungs do not rise (" + l.NotRising + "), so none is a limit"
	case w.plan.Axis == plan.AxisRate:
		out.Reason = "a rate is what a server is sent, and no setting of it: the ladder has a capacity"
	case !w.plan.Axis.HasKnee():
		w.longest()
	default:
		w.byKnee()
		w.capByP95(b)
	}
}

// longest is the limit of a ladder without a knee: the last rung that passed.
func (w *walked) longest() {
	l, out := w.out, &w.out.Limit
	what := lengthOf(w.plan.Axis)
	if l.Boundary != nil {
		out.Value, out.Bound, out.Reason = l.Boundary, BoundEdge, "the longest "+what+" that passed"
		return
	}
	if l.Edge != nil {
		out.Reason = l.BoundaryReason
		return
	}
	for i := len(l.Rungs) - 1; i >= 0; i-- {
		if l.Rungs[i].Latency == nil {
			continue
		}
		out.Value, out.Bound, out.Reason = &l.Rungs[i].Value, BoundLast, "the longest "+what+" that was tried, and it passed: there may be more"
		if i < len(l.Rungs)-1 {
			out.Reason = "the longest " + what + " of which a request counts"
		}
		return
	}
	out.Reason = l.BoundaryReason
	if at, why := l.refused(); at != "" {
		out.Reason = fmt.Sprintf("every round at %s was refused (%s)", at, nameOf(why))
	}
}

func (w *walked) byKnee() {
	l, out := w.out, &w.out.Limit
	k := &l.Knee
	switch {
	case (k.Answer == Found || k.Answer == AtOrBelowFirst) && w.rules.Use == "offline":
		out.Value, out.Bound, out.Reason = k.Knee, BoundKnee, "the knee, for offline use"
	case k.Answer == Found:
		out.Value, out.Bound, out.Reason = k.Best, BoundKnee, "the best rung"
	case k.Answer == AtOrBelowFirst:
		out.Value, out.Bound, out.Reason = k.Best, BoundKnee, "the first rung: the next already does not pay"
	case k.Answer == Inconsistent:
		out.Reason = "the ladder is " + k.Reason
	case l.Boundary != nil:
		out.Value, out.Bound, out.Reason = l.Boundary, BoundEdge, "the boundary, since the knee is "+k.Reason
		if k.Answer == NoAnswer {
			out.Reason = "the boundary, since there is no knee: " + k.Reason
		}
	case k.Answer == NotReached:
		out.Reason = "the knee is " + k.Reason
	case l.Edge != nil:
		out.Reason = "there is no knee and no boundary: " + k.Reason
	default:
		out.Reason = "there is no knee and no edge: " + k.Reason
	}
}

// p95Base is the P95 that a rung's is held against.
func (w *walked) p95Base(b Baseline) (s float64, of string) {
	l, of := w.base(b)
	if l == nil {
		return 0, ""
	}
	return l.P95S, of
}

// base are the latencies that a rung's are held against: those of the rung of value 1,
// else the baseline's with equal fixed values, else the first rung's.
func (w *walked) base(b Baseline) (l *Latency, of string) {
	for _, r := range w.out.Rungs {
		if r.Value == 1 && r.Latency != nil {
			return r.Latency, "the rung of one"
		}
	}
	first := w.out.Rungs[0]
	same := first.Shape
	same.InFlight = b.Shape.InFlight
	if b.Latency != nil && same == b.Shape {
		return b.Latency, "the baseline"
	}
	if first.Latency != nil {
		return first.Latency, fmt.Sprintf("the first rung, %g, for want of a lower one", first.Value)
	}
	return nil, ""
}

func (w *walked) capByP95(b Baseline) {
	out, ratio := &w.out.Limit, w.rules.Limit.P95Ratio
	if w.plan.Axis != plan.AxisConcurrency || out.Value == nil || !within(ratio, 0, math.MaxFloat64) || ratio == 0 {
		return
	}
	base, of := w.p95Base(b)
	if base <= 0 {
		return
	}
	var last *Rung
	for i := range w.out.Rungs {
		if r := &w.out.Rungs[i]; r.Index < w.edge && r.Latency != nil && r.Latency.P95S <= ratio*base {
			last = r
		}
	}
	if last != nil && last.Value >= *out.Value {
		return
	}
	if last == nil {
		*out = Limit{Reason: fmt.Sprintf("no rung has a P95 within %g times that of %s", ratio, of)}
		return
	}
	was := *out.Value
	out.Value, out.Bound = &last.Value, BoundP95
	out.Reason = fmt.Sprintf("the last rung whose P95 is within %g times that of %s; by throughput alone it would be %g", ratio, of, was)
}
