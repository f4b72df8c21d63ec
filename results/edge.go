package results

import (
	"fmt"
	"slices"

	"rung/sinks/record"
	"rung/spec/plan"
)

// findEdge looks for the lowest rung that fails by the stop rule over all its
// measured requests, whatever the pass (a later pass lowers the edge), or was too slow
// when it was walked. slow is the rung that was.
func (w *walked) findEdge(slow slowEdge) {
	out := w.out
	for i := range out.Rungs {
		r := &out.Rungs[i]
		switch {
		case r.Failed != "":
			out.Edge = &Edge{
				Kind: EdgeFails, Index: r.Index, Value: r.Value, Reason: r.Failed, Failures: r.Failures,
				Pass: firstFailure(w.rows[r.Index]), First: w.felled(r), Settings: w.settings(r),
			}
			out.Edge.Confirmed, out.Edge.AtTimes = w.confirmation(r.Index)
		case r.Index == slow.rung:
			r.Slow = slow.reason
			out.Edge = &Edge{
				Kind: EdgeSlow, Index: r.Index, Value: r.Value, Reason: slow.reason, Failures: r.Failures,
				Pass: slow.pass, Confirmed: "no failure", OnFew: slow.few,
			}
		default:
			continue
		}
		w.edge = r.Index
		w.findBoundary(i)
		return
	}
	w.noEdge()
}

// noEdge says why there is no edge, and so no boundary.
func (w *walked) noEdge() {
	out := w.out
	n, names, _ := out.belowStop()
	switch {
	case len(out.Rungs) == 0:
		out.BoundaryReason = "no rung was walked"
	case n > 0:
		out.BoundaryReason = fmt.Sprintf("no rung met the stop rule; %s failed (%s)", count(n, "request", "requests"), names)
	case !slices.ContainsFunc(out.Rungs, func(r Rung) bool { return r.Latency != nil }):
		out.BoundaryReason = "no rung met the stop rule, and none has a request that counts"
	default:
		out.BoundaryReason = "no rung failed"
	}
	if at, _ := out.refused(); at != "" {
		out.BoundaryReason += "; nothing is known at " + at
	}
}

// felled names what happened in the warm-ups of a rung whose rounds were refused
// throughout: the server was there before them and gone after.
func (w *walked) felled(r *Rung) string {
	if len(r.Failures) != 1 || record.Outcome(r.Failures[0].Name) != record.Refused {
		return ""
	}
	for _, f := range failures(w.warm[r.Index].tally()) {
		if record.Outcome(f.Name) != record.Refused {
			return f.Name
		}
	}
	return ""
}

// settings name the limits of the server that the failures at a rung met.
func (w *walked) settings(r *Rung) []string {
	var out []string
	add := func(s string) {
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, f := range r.Failures {
		add(record.Outcome(f.Name).Setting())
	}
	for _, m := range met(w.rows[r.Index]) {
		add(m.Setting)
	}
	return out
}

// findBoundary names the highest rung below the edge that passed: where rounds
// count, and not only none failed.
func (w *walked) findBoundary(edge int) {
	out := w.out
	for i := edge - 1; i >= 0; i-- {
		if out.Rungs[i].Latency != nil {
			out.Boundary = &out.Rungs[i].Value
			return
		}
	}
	if edge > 0 {
		out.BoundaryReason = "no rung below the edge has a request that counts"
		return
	}
	if out.Edge.Kind == EdgeSlow {
		out.BoundaryReason = "the first rung is too slow already, so nothing below it is known: begin lower"
		return
	}
	out.BoundaryReason = "the first rung fails, so nothing below it is known: " + w.afterFirst(out.Rungs[0].Failures)
}

// afterFirst says what to do where the first rung fails. Only what a long input
// can bring about is a matter of its length.
func (w *walked) afterFirst(failed []Failures) string {
	for _, f := range failed {
		switch record.Outcome(f.Name) {
		case record.OOM, record.CUDAError, record.TooLong, record.Timeout:
			if w.plan.Axis == plan.AxisInputTokens {
				return "begin at shorter inputs"
			}
			return "look at a single long input before the " + string(w.plan.Axis)
		default:
		}
	}
	return w.out.reported(failed)
}

// reported is what failed and the first words of the server for it.
func (l *Ladder) reported(failed []Failures) string {
	s := listed(failed)
	for _, f := range failed {
		for _, x := range l.Said {
			if x.Name == f.Name && x.Text != "" {
				return s + ", beginning " + x.Text
			}
		}
	}
	return s
}

// firstFailure is the pass in which a rung first failed.
func firstFailure(v visits) int {
	for _, a := range v.in(record.Measure) { // in order of pass
		if (visits{a}).tally().Failures > 0 {
			return a.Pass
		}
	}
	return 0
}

// confirmation tells "each round" from "only at times".
func (w *walked) confirmation(i int) (words string, atTimes bool) {
	rounds := w.rows[i].in(record.Confirm)
	if len(rounds) == 0 {
		return "no further rounds were sent there", false
	}
	failed := 0
	for _, a := range rounds {
		if (visits{a}).tally().Failures > 0 {
			failed++
		}
	}
	switch failed {
	case len(rounds):
		return fmt.Sprintf("each of %s failed too", count(len(rounds), "further round", "further rounds")), false
	case 0:
		return fmt.Sprintf("none of %s failed: it fails at times only", count(len(rounds), "further round", "further rounds")), true
	default:
		return fmt.Sprintf("%d of %d further rounds failed: it fails at times", failed, len(rounds)), true
	}
}
