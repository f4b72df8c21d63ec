package results

import (
	"fmt"
	"strings"

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
		if w.plan.Axis == plan.AxisRate {
			k.Reason = "along rate there is a capacity and no knee"
		}
		rungs, _ := w.usable()
		_, w.out.PassesDone = w.curve(rungs)
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
	k.Beside = w.beside(c)
}

// tooFew says why a knee can't be found on so few rungs.
func (w *walked) tooFew(n int) string {
	if e := w.out.Edge; e != nil && e.Index == 0 {
		if e.Kind == EdgeSlow {
			return "the first rung is too slow"
		}
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
		if c.cut != "" {
			k.Reason += ": still scaling when " + c.cut
		} else {
			k.Reason += ": extend the ladder upward"
		}
	case Inconsistent:
		k.Reason = fmt.Sprintf("inconsistent: throughput flattened at %g while P95 did not rise there, look at the client", c.load[p.best])
	case NoAnswer:
	}
}

// upper begins a text of ASCII with a capital.
func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

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
