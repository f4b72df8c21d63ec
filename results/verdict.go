package results

import (
	"fmt"
	"strings"

	"rung/sinks/record"
	"rung/spec/plan"
)

// leastRungs is how many usable rungs a knee takes: two points have no bend.
const leastRungs = 3

// findKnee applies the declared rule.
func (w *walked) findKnee(b Baseline) {
	k := &w.out.Knee
	k.Rule, k.Answer = w.rules.Knee.Rule, NoAnswer
	if !w.plan.Axis.HasKnee() {
		k.Rule = ""
		k.Reason = fmt.Sprintf("along %s each rung is other work, so there is an edge and no knee", w.plan.Axis)
		return
	}
	r, ok := ruleNamed(k.Rule)
	if !ok {
		k.Reason = fmt.Sprintf("rule %q: not yet, choose power, half_increment or gain_and_p95", k.Rule)
		return
	}
	if bad := unsoundKnee(w.rules.Knee); bad != "" {
		k.Reason = "the rule is none: " + bad
		return
	}
	if w.out.NotRising != "" {
		k.Reason = "the rungs do not rise (" + w.out.NotRising + "), and a knee is defined only where each asks more than the one before"
		return
	}
	rungs, left := w.usable()
	k.Notes = left
	if len(rungs) < leastRungs {
		k.Reason = w.tooFew(len(rungs))
		return
	}
	c, whole := w.curve(rungs)
	if c.base, c.baseOf = w.p95Base(b); k.Rule == "gain_and_p95" {
		if c.base <= 0 {
			k.Reason = "the rule holds P95 against that of a single request, and none is known"
			return
		}
		k.Notes = append(k.Notes, fmt.Sprintf("P95 is held against %.4g s, that of %s", c.base, c.baseOf))
	}
	w.out.PassesDone = whole
	k.Passes = len(c.x)
	if whole == 0 {
		k.Notes = append(k.Notes, "no pass is whole: all are taken together as one")
	}
	if k.Passes == 1 && k.Rule == "half_increment" && !spread(c.rounds) {
		k.Notes = append(k.Notes, "one round at a rung in one pass: no spread is known, so increments are compared without a standard error")
	}
	p := r(w.rules.Knee, c)
	k.take(p, c)
	var answers []Weighted
	if k.Passes >= sharePasses {
		answers = resample(r, w.rules.Knee, c)
	}
	k.judge(answers, p.name(c))
}

// tooFew says why a knee can't be found on so few rungs.
func (w *walked) tooFew(n int) string {
	if w.edge == 0 {
		return "the first rung fails"
	}
	s := fmt.Sprintf("a knee takes %d usable rungs, and here are %d", leastRungs, n)
	if at, why := w.out.refused(); at != "" {
		return s + fmt.Sprintf(": every round at %s was refused (%s)", at, nameOf(why))
	}
	var silent []string
	for _, r := range w.out.Rungs {
		if r.ThroughputReason == noOutput {
			silent = append(silent, fmt.Sprintf("%g", r.Value))
		}
	}
	if len(silent) > 0 {
		s += ": the answers at " + strings.Join(silent, ", ") + " report 0 output tokens"
	}
	return s
}

// nameOf is what a reason begins with: the name of an outcome, mostly.
func nameOf(reason string) string {
	name, _, _ := strings.Cut(reason, ":")
	return name
}

// spread says whether every rung has two rounds or more.
func spread(rounds [][]float64) bool {
	for _, r := range rounds {
		if len(r) < 2 {
			return false
		}
	}
	return true
}

// take puts a rule's answer into words.
func (k *Knee) take(p pick, c curve) {
	k.Answer = p.answer
	for _, i := range p.irregular {
		k.Irregular = append(k.Irregular, c.load[i])
	}
	value := func(i int) *float64 { return &c.load[i] }
	switch p.answer {
	case Found, AtOrBelowFirst:
		k.Best, k.Knee = value(p.best), value(p.best+1)
		k.Reason = fmt.Sprintf("best rung %g, knee %g", *k.Best, *k.Knee)
		if p.answer == AtOrBelowFirst {
			k.Reason = fmt.Sprintf("at or below the first rung, %g", *k.Best)
			if *k.Best > 1 {
				k.Reason += ": extend the ladder downward"
			}
		}
	case NotReached:
		k.Least = value(p.best)
		k.Reason = fmt.Sprintf("not reached, at least %g", *k.Least)
		if c.cut {
			k.Reason += ": still scaling when failures began"
		} else {
			k.Reason += ": extend the ladder upward"
		}
	case Inconsistent:
		k.Reason = fmt.Sprintf("inconsistent: throughput flattened at %g while P95 did not rise there, look at the client", c.load[p.best])
	case NoAnswer:
	}
}

// verdict is the sentence on top: what to configure, and why in few words.
func verdict(rep *Report) string {
	var do, open []string
	for i := range rep.Ladders {
		l := &rep.Ladders[i]
		if v := l.Limit.Value; v != nil {
			do = append(do, fmt.Sprintf("%s %g%s", l.Setting, *v, inBrackets(because(l))))
		} else {
			open = append(open, fmt.Sprintf("ladder %q gives no limit, since %s", l.Name, l.Limit.Reason))
		}
	}
	var s string
	switch {
	case len(rep.Ladders) == 0:
		s = "nothing to configure: the plan has no ladder"
	case len(do) == 0:
		s = "nothing to configure yet: " + strings.Join(open, "; ")
	default:
		s = "configure " + and(do)
		if len(open) > 0 {
			s += "; " + strings.Join(open, "; ")
		}
	}
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

// upper begins a text of ASCII with a capital.
func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

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
	if l.Limit.Bound == BoundP95 || l.Limit.Bound == BoundMemory {
		why = append(why, "bound by "+l.Limit.Bound)
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
	if at, reason := l.refused(); at != "" {
		why = append(why, fmt.Sprintf("nothing is known at %s: every round was refused, %s", at, nameOf(reason)))
	}
	return strings.Join(why, "; ")
}

// inShort says in few words what happened at an edge.
func (e *Edge) inShort() string {
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
	return fmt.Sprintf("%s %g %s for %.1f times the P95", axis, to.Value, brings, to.Latency.P95S/from.Latency.P95S)
}

// at is the rung of a value; nil where it is nil or was not walked.
func (l *Ladder) at(value *float64) *Rung {
	if value == nil {
		return nil
	}
	for i := range l.Rungs {
		if l.Rungs[i].Value == *value {
			return &l.Rungs[i]
		}
	}
	return nil
}

func names(f []Failures) string {
	var out []string
	for _, x := range f {
		out = append(out, x.Name)
	}
	return strings.Join(out, ", ")
}

func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

func and(s []string) string {
	if len(s) < 2 {
		return strings.Join(s, "")
	}
	return strings.Join(s[:len(s)-1], ", ") + " and " + s[len(s)-1]
}

// find puts what a ladder shows into sentences, the most important first.
func (w *walked) find() {
	l := w.out
	say := func(format string, args ...any) { l.Findings = append(l.Findings, fmt.Sprintf(format, args...)) }
	if l.Limit.Value != nil {
		say("Limit: %s %g, %s.", l.Setting, *l.Limit.Value, l.Limit.Reason)
	} else {
		say("No limit: %s.", l.Limit.Reason)
	}
	if l.Knee.Rule != "" {
		by := "Knee by " + l.Knee.Rule + ": " + l.Knee.Reason
		if l.Knee.Sure != "" {
			by += "; how sure: " + l.Knee.Sure
		}
		say("%s.", by)
	} else {
		say("No knee: %s.", l.Knee.Reason)
	}
	if best, knee := l.at(l.Knee.Best), l.at(l.Knee.Knee); best != nil && knee != nil {
		if s := trade(l.Axis, best, knee); s != "" {
			say("Beyond it, %s.", s)
		}
	}
	for _, v := range l.Knee.Irregular {
		say("At %g throughput dips, and a later rung makes it good: a local irregularity.", v)
	}
	switch {
	case l.Edge == nil:
		say("No edge: %s.", l.BoundaryReason)
	case l.Boundary != nil:
		say("Edge at %g: %s; %s. The boundary is %g.", l.Edge.Value, l.Edge.Reason, l.Edge.Confirmed, *l.Boundary)
	default:
		say("Edge at %g: %s; %s. No boundary: %s.", l.Edge.Value, l.Edge.Reason, l.Edge.Confirmed, l.BoundaryReason)
	}
	if l.Edge != nil && l.Edge.First != "" {
		say("At %g the server fell in the warm-up (%s), before the first round.", l.Edge.Value, l.Edge.First)
	}
	if l.Edge != nil && l.Edge.Pass > 0 {
		say("The edge showed in pass %d only; the walks before it passed there.", l.Edge.Pass+1)
	}
	if l.Ended != "" && l.Ended != "last rung" && !strings.HasPrefix(l.Ended, "edge at") {
		say("The ladder ended early: %s.", l.Ended)
	}
	for _, n := range l.Knee.Notes {
		say("%s.", upper(n))
	}
	if l.UnitReason != "" {
		say("Throughput is in %s: %s.", l.Unit, l.UnitReason)
	}
}
