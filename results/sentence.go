package results

import (
	"fmt"
	"strings"

	"rung/sinks/record"
	"rung/spec/plan"
)

// verdict is the sentence on top: what to configure, and why in few words.
func verdict(rep *Report) string {
	s := conclude(rep)
	switch rep.Run.Status {
	case record.Done:
	case record.Running:
		s = "from a run that has not ended: " + s
	case record.Failed:
		s = "from a run that failed: " + s
	case record.InterruptedStatus:
		s = "from a run that was interrupted: " + s
	default:
		s = "from a run that did not finish: " + s
	}
	if rep.Simulated {
		return "Of a simulated server: " + s + "."
	}
	return upper(s) + "."
}

// conclude says what the ladders give: values to configure, rates that are borne, and
// what gives neither.
func conclude(rep *Report) string {
	if len(rep.Ladders) == 0 {
		return "nothing to configure: the plan has no ladder"
	}
	var do, holds, open []string
	limits := rep.withLimits()
	for i := range rep.Ladders {
		l := &rep.Ladders[i]
		switch c := l.Capacity; {
		case c != nil && c.Value != nil:
			holds = append(holds, l.bears())
		case c != nil:
			open = append(open, fmt.Sprintf("ladder %q gives no capacity, since %s", l.Name, c.Reason))
		case l.Limit.Value != nil:
			why := because(l)
			if len(limits) > 1 {
				why = join("; ", l.fixed(), why)
			}
			if l.Limit.Check == NotConfirmed && (l.Limit.By == CheckRetest || len(limits) == 1) { // else it is said of all
				why = join("; ", why, l.Limit.Checked)
			}
			do = append(do, fmt.Sprintf("%s %g%s", l.Setting, *l.Limit.Value, inBrackets(why)))
		default:
			open = append(open, fmt.Sprintf("ladder %q gives no limit, since %s", l.Name, l.Limit.Reason))
		}
	}
	if len(do) == 0 && len(holds) == 0 {
		return "nothing to configure yet: " + strings.Join(open, "; ")
	}
	parts := []string{}
	if len(do) > 0 {
		parts = append(parts, "configure "+and(do))
	}
	parts = append(append(append(parts, rep.together(limits)), holds...), open...)
	return join("; ", parts...)
}

// withLimits are the ladders that have a value to configure.
func (rep *Report) withLimits() []*Ladder {
	var out []*Ladder
	for i := range rep.Ladders {
		if rep.Ladders[i].Limit.Value != nil {
			out = append(out, &rep.Ladders[i])
		}
	}
	return out
}

// together says whether several limits were ever tried at once; "" where there is one.
func (rep *Report) together(limits []*Ladder) string {
	if len(limits) < 2 {
		return ""
	}
	for _, c := range rep.Checks {
		if c.Kind != CheckConfirm || c.Verdict == NotChecked {
			continue
		}
		if c.Verdict == NotConfirmed {
			return "together they are not confirmed: " + c.Reason
		}
		for _, l := range limits {
			if !l.Axis.HasKnee() {
				return "each was measured alone, and not all of them together"
			}
		}
		return "together they are confirmed"
	}
	return "each was measured alone, not together"
}

// fixed says what stood still while a ladder was walked.
func (l *Ladder) fixed() string {
	if len(l.Rungs) == 0 {
		return ""
	}
	s := l.Rungs[0].Shape
	var out []string
	add := func(axis plan.Axis, text string, n int) {
		if l.Axis != axis && n > 0 {
			out = append(out, fmt.Sprintf(text, n))
		}
	}
	add(plan.AxisBatch, "batch %d", s.Batch)
	add(plan.AxisInputTokens, "%d tokens an input", s.InputTokens)
	add(plan.AxisOutputTokens, "%d output tokens", s.OutputTokens)
	if l.Axis != plan.AxisRate {
		add(plan.AxisConcurrency, "%d in flight", s.InFlight)
	}
	return "at " + strings.Join(out, ", ")
}

// bears says in few words what rate a server bears.
func (l *Ladder) bears() string {
	c := l.Capacity
	s, why := "the server bears", []string{}
	if c.AtLeast {
		s, why = s+" at least", append(why, "the last rate, and it held")
	}
	switch {
	case c.Beyond != nil:
		why = append(why, fmt.Sprintf("%g saturates it", *c.Beyond))
	case l.Edge != nil:
		why = append(why, l.Edge.inShort())
	}
	if r := l.at(c.Value); r != nil && r.Open != nil && r.Open.Few {
		why = append(why, fmt.Sprintf("on few arrivals, n = %d", r.Open.Arrivals))
	}
	for _, b := range c.Below {
		if b.P95S != nil {
			why = append(why, fmt.Sprintf("P95 %.3g s at %s of it%s", *b.P95S, percent(b.Share), onFew(b.Supported)))
		}
	}
	return fmt.Sprintf("%s %g requests/s%s", s, *c.Value, inBrackets(strings.Join(why, "; ")))
}

// onFew marks a figure that rests on too few requests.
func onFew(supported bool) string {
	if supported {
		return ""
	}
	return ", on too few requests"
}

// join puts texts together, leaving out those that say nothing.
func join(by string, s ...string) string {
	var out []string
	for _, x := range s {
		if x != "" {
			out = append(out, x)
		}
	}
	return strings.Join(out, by)
}

// because says in few words what bounds a ladder's limit.
func because(l *Ladder) string {
	var why []string
	if best, knee := l.at(l.Knee.Best), l.at(l.Knee.Knee); best != nil && knee != nil {
		if s := trade(l.Axis, best, knee); s != "" {
			why = append(why, s)
		}
	}
	if l.Edge != nil {
		why = append(why, l.Edge.inShort())
	}
	switch at := l.at(l.Limit.Value); {
	case l.Limit.Bound == BoundP95 && at != nil && at.Latency != nil:
		why = append(why, "bound by p95"+onFew(at.Latency.P95Supported))
	case l.Limit.Bound == BoundMemory:
		why = append(why, "bound by memory")
	}
	if s := l.Bottleneck.words(); s != "" {
		why = append(why, s)
	}
	if l.Limit.Bound == BoundLast {
		why = append(why, "the last rung, and it passed")
	}
	if l.Knee.Answer == AtOrBelowFirst && *l.Knee.Best > 1 {
		why = append(why, "the first rung, and lower ones were not tried")
	}
	if l.Knee.Passes == 1 && l.Knee.Best != nil {
		why = append(why, "one walk up, drift unseen")
	}
	if s := l.Knee.Share; s != nil && *s < 0.70 && l.Knee.Answer == Found {
		why = append(why, "not settled")
	}
	if at := l.unsteadyAt(); at != "" {
		why = append(why, "not steady at "+at)
	}
	if at, reason := l.refused(); at != "" {
		why = append(why, fmt.Sprintf("nothing is known at %s: every round was refused, %s", at, nameOf(reason)))
	}
	return strings.Join(why, "; ")
}

// inShort says in few words what happened at an edge.
func (e *Edge) inShort() string {
	if e.Kind == EdgeSlow {
		return fmt.Sprintf("%g is too %s%s, no failure", e.Value, e.Reason, onFew(!e.OnFew))
	}
	what := names(e.Failures)
	if e.First != "" {
		what = e.First + " in its warm-up, then " + what
	}
	if e.AtTimes {
		return fmt.Sprintf("%g fails at times: %s", e.Value, what)
	}
	return fmt.Sprintf("%g fails: %s", e.Value, what)
}

// trade is what the step from one rung to the next brings and costs.
func trade(axis plan.Axis, from, to *Rung) string {
	if from.Throughput == nil || to.Throughput == nil || from.Latency == nil || to.Latency == nil {
		return ""
	}
	gain := finite(*to.Throughput / *from.Throughput - 1)
	if gain == nil || from.Latency.P95S <= 0 || to.Latency.P95S < 0 {
		return ""
	}
	brings := fmt.Sprintf("brings %s more throughput", percent(*gain))
	if *gain < 0.005 {
		brings = "brings no more throughput"
	}
	few := onFew(from.Latency.P95Supported && to.Latency.P95Supported)
	return fmt.Sprintf("%s %g %s for %.1f times the P95%s", axis, to.Value, brings, to.Latency.P95S/from.Latency.P95S, few)
}
