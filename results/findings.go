package results

import (
	"fmt"
	"strings"

	"rung/spec/plan"
)

// find puts what a ladder shows into sentences, the most important first.
func (w *walked) find() {
	l := w.out
	say := func(format string, args ...any) { l.Findings = append(l.Findings, fmt.Sprintf(format, args...)) }
	if l.Capacity != nil {
		l.Capacity.find(say)
	} else {
		l.findLimits(say)
	}
	if l.Bottleneck != nil {
		say("%s", l.Bottleneck.finding())
	}
	l.findOnsets(say)
	if l.Slope != nil {
		say("%s.", upper(l.Slope.words()))
	}
	l.findEdges(say)
	if l.Ended != "" && l.Ended != "last rung" && !strings.HasPrefix(l.Ended, "edge at") {
		say("The ladder ended early: %s.", l.Ended)
	}
	l.findTimeouts(say)
	if at := l.unsteadyAt(); at != "" {
		say("Not steady at %s: the latency moved while it was measured.", at)
	}
	w.findGoodput(say)
	for _, n := range l.Knee.Notes {
		say("%s.", upper(n))
	}
	if l.UnitReason != "" {
		say("Throughput is in %s: %s.", l.Unit, l.UnitReason)
	}
	if without, of := l.usageMissing(); without > 0 {
		say("Tokens are unknown in %d of %d answers, which came without usage; nothing is put in their place.", without, of)
	}
	for _, r := range l.Rungs {
		if r.Open != nil && r.Open.Few {
			say("At %g only %s came due: one of them is more than the %g %% by which saturation is told.",
				r.Value, count(r.Open.Arrivals, "request", "requests"), 100*(1-leastRatio))
		}
	}
}

// find says what rate is borne, and the latency below it.
func (c *Capacity) find(say func(string, ...any)) {
	switch {
	case c.Value == nil:
		say("No capacity: %s.", c.Reason)
	case c.AtLeast:
		say("Capacity: at least %g requests/s; %s.", *c.Value, c.Reason)
	default:
		say("Capacity: %g requests/s, the last rate that held; %s.", *c.Value, c.Reason)
	}
	for _, b := range c.Below {
		if b.P95S == nil {
			say("P95 at %s of it, %.4g requests/s: %s.", percent(b.Share), b.Rate, b.Reason)
			continue
		}
		say("P95 at %s of it, %.4g requests/s: %.4g s%s, between the two rates around it.", percent(b.Share), b.Rate, *b.P95S, onFew(b.Supported))
	}
}

// findLimits says what is to be configured, and where load no longer pays.
func (l *Ladder) findLimits(say func(string, ...any)) {
	if l.Limit.Value != nil {
		say("Limit: %s.", join(", ", fmt.Sprintf("%s %g", l.Setting, *l.Limit.Value), l.Limit.Reason)+inBrackets(join("; ", l.fixed(), l.Limit.Checked)))
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
}

// findEdges says where it fails or is too slow, and what that is a limit of.
func (l *Ladder) findEdges(say func(string, ...any)) {
	e := l.Edge
	if e == nil {
		say("No edge: %s.", l.BoundaryReason)
		if l.Shape != nil {
			say("A cliff without an error: %s%s.", l.Shape.Says, l.causeAt(l.Shape.Value))
		}
		return
	}
	below := "No boundary: " + l.BoundaryReason
	if l.Boundary != nil {
		below = fmt.Sprintf("The boundary is %g", *l.Boundary)
	}
	say("Edge at %g: %s%s; %s. %s.", e.Value, e.Reason, onFew(!e.OnFew), e.Confirmed, below)
	if e.First != "" {
		say("At %g the server fell in the warm-up (%s), before the first round.", e.Value, e.First)
	}
	if e.Pass > 0 {
		say("The edge showed in pass %d only; the walks before it passed there.", e.Pass+1)
	}
	if l.Shape != nil && l.Shape.Kind == ShapeFromRound {
		say("%s: not for production, though it passes at times.", "Rung "+l.Shape.Says)
	}
	for _, s := range e.Settings {
		say("What failed at %g is %s.", e.Value, s)
	}
}

// findGoodput names the rung at which most requests a second meet the objectives.
func (w *walked) findGoodput(say func(string, ...any)) {
	if w.slo == nil {
		return
	}
	var best *Rung
	why := ""
	for i := range w.out.Rungs {
		r := &w.out.Rungs[i]
		switch g := r.Goodput; {
		case g == nil:
		case g.PerS == nil:
			why = g.Reason
		case r.Index < w.edge && (best == nil || *g.PerS > *best.Goodput.PerS):
			best = r
		}
	}
	switch {
	case best != nil && *best.Goodput.PerS > 0:
		say("Goodput is greatest at %g: %.4g requests/s, and %s of its requests meet %s.",
			best.Value, *best.Goodput.PerS, percent(*best.Goodput.Share), w.slo.words())
	case best != nil:
		say("Goodput is 0 at every rung: no request meets %s.", w.slo.words())
	case why != "":
		say("Goodput is %s.", why)
	}
}

// words names the declared parts.
func (o objectives) words() string {
	var out []string
	for _, p := range []struct {
		name string
		most float64
	}{{"latency", o.latency}, {"ttft", o.ttft}, {"tpot", o.tpot}} {
		if p.most > 0 {
			out = append(out, fmt.Sprintf("%s %g s", p.name, p.most))
		}
	}
	return strings.Join(out, ", ")
}

// objectivesOf are those of a plan; nil where it declares none.
func objectivesOf(s *plan.SLO) *objectives {
	if s == nil {
		return nil
	}
	return &objectives{s.Latency.Seconds(), s.TTFT.Seconds(), s.TPOT.Seconds()}
}

// mostTimeouts bounds how many lengths of timeouts are told.
const mostTimeouts = 8

// findTimeouts lists the timeouts with the planned length of each.
func (l *Ladder) findTimeouts(say func(string, ...any)) {
	var out []string
	for i, t := range l.Timeouts {
		if i == mostTimeouts {
			out = append(out, "…")
			break
		}
		out = append(out, fmt.Sprintf("%d of %d tokens at %g", t.N, t.InputTokens, t.Value))
	}
	if len(out) > 0 {
		say("Timed out: %s.", strings.Join(out, ", "))
	}
}
