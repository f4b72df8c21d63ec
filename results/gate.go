package results

import (
	"fmt"
	"slices"
	"strings"

	"rung/sinks/record"
)

// What a rule of a gate can say.
const (
	Tripped      = "tripped"
	Held         = "held"
	NotEvaluable = "not evaluable" // which is no pass
)

// Gate is what became of holding a later run against the criteria of a reference.
type Gate struct {
	Verdict   string     `json:"verdict"` // held only where every rule is
	Run       string     `json:"run"`
	Reference string     `json:"reference"`
	Scope     []string   `json:"scope"` // which rungs of the later run were looked at
	Rules     []GateRule `json:"rules"`
}

// GateRule is one criterion.
type GateRule struct {
	Rule    string `json:"rule"`
	Verdict string `json:"verdict"`
	Says    string `json:"says"`
}

// looked is one rung or check of the later run.
type looked struct {
	name     string
	sent     int
	failures []Failures
	latency  *Latency
	rung     *Rung // nil of a check
	ladder   *Ladder
}

// NewGate holds a later run against the rollback criteria that the reference's spec
// declares: over the later run's rungs up to the values that the reference configured,
// and its checks. What lies above a limit is meant to fail.
func NewGate(later, reference *Report) Gate {
	out := Gate{Run: later.Run.RunID, Reference: reference.Run.RunID, Scope: []string{}, Rules: []GateRule{}}
	seen := later.upTo(reference, &out)
	r := reference.Rollback
	if r == nil {
		out.Verdict = NotEvaluable
		out.Rules = append(out.Rules, GateRule{"rollback", NotEvaluable, "the reference's spec declares no criteria"})
		return out
	}
	if len(r.Outcomes) > 0 {
		out.add("outcomes "+strings.Join(r.Outcomes, ", "), seen, func() (string, string) { return gateOutcomes(seen, r.Outcomes) })
	}
	if r.P95 > 0 {
		out.add("P95 over "+r.P95.String(), seen, func() (string, string) { return gateP95(seen, r.P95.Seconds()) })
	}
	if r.TimeoutRatio != nil {
		out.add(fmt.Sprintf("timeout ratio over %g", *r.TimeoutRatio), seen, func() (string, string) { return gateTimeouts(seen, *r.TimeoutRatio) })
	}
	if r.CapShare != nil {
		out.add(fmt.Sprintf("batches at their cap in over %g of the samples, and more spread", *r.CapShare), seen,
			func() (string, string) { return gateCap(seen, reference, *r.CapShare) })
	}
	if later.Run.Status != record.Done {
		out.Rules = append(out.Rules, GateRule{"the run ended as done", NotEvaluable, fmt.Sprintf("it is %q: what it did not come to is not known", later.Run.Status)})
	}
	out.Verdict = Held
	for _, rule := range out.Rules {
		if rule.Verdict == Tripped || rule.Verdict == NotEvaluable && out.Verdict == Held {
			out.Verdict = rule.Verdict
		}
	}
	return out
}

// add evaluates a rule, where there is anything to look at.
func (g *Gate) add(rule string, seen []looked, judge func() (verdict, says string)) {
	verdict, says := NotEvaluable, "no rung up to a limit of the reference, and no check, was measured"
	if len(seen) > 0 {
		verdict, says = judge()
	}
	g.Rules = append(g.Rules, GateRule{rule, verdict, says})
}

// upTo are the rungs of a run up to the limits of the reference's ladders, and its
// checks. A ladder that the reference has no limit for is looked at as a whole.
func (rep *Report) upTo(reference *Report, g *Gate) []looked {
	var out []looked
	for i := range rep.Ladders {
		l := &rep.Ladders[i]
		most, n := reference.limitFor(l), 0
		for k := range l.Rungs {
			r := &l.Rungs[k]
			if most != nil && r.Value > *most {
				continue
			}
			out = append(out, looked{fmt.Sprintf("%s %g", l.Name, r.Value), r.Sent, r.Failures, r.Latency, r, l})
			n++
		}
		upTo := "all of it, since the reference has no limit for it"
		if most != nil {
			upTo = fmt.Sprintf("up to %g, the reference's limit", *most)
		}
		g.Scope = append(g.Scope, fmt.Sprintf("ladder %q, %s: %s", l.Name, count(n, "rung", "rungs"), upTo))
	}
	for _, c := range rep.Checks {
		if c.Sent > 0 {
			name := strings.TrimSpace(c.Kind + " " + c.Ladder)
			out = append(out, looked{name: name, sent: c.Sent, failures: c.Failures, latency: c.Latency})
			g.Scope = append(g.Scope, name)
		}
	}
	return out
}

// limitFor is the limit that a run configured for a ladder: that of the ladder of its
// name or else of its axis.
func (rep *Report) limitFor(l *Ladder) *float64 {
	for _, same := range []func(*Ladder) bool{
		func(x *Ladder) bool { return x.Name == l.Name && x.Axis == l.Axis },
		func(x *Ladder) bool { return x.Axis == l.Axis },
	} {
		for i := range rep.Ladders {
			if x := &rep.Ladders[i]; same(x) {
				if x.Capacity != nil {
					return x.Capacity.Value
				}
				return x.Limit.Value
			}
		}
	}
	return nil
}

func gateOutcomes(seen []looked, outcomes []string) (verdict, says string) {
	var bad []string
	sent := 0
	for _, s := range seen {
		sent += s.sent
		for _, f := range s.failures {
			if slices.Contains(outcomes, f.Name) {
				bad = append(bad, fmt.Sprintf("%d %s at %s", f.N, f.Name, s.name))
			}
		}
	}
	switch {
	case len(bad) > 0:
		return Tripped, strings.Join(bad, ", ")
	case sent == 0:
		return NotEvaluable, "nothing was sent"
	default:
		return Held, fmt.Sprintf("none in %s", count(sent, "request", "requests"))
	}
}

// gateP95 looks at every rung: a percentile of too few requests proves nothing.
func gateP95(seen []looked, most float64) (verdict, says string) {
	var over, few []string
	worst := 0.0
	for _, s := range seen {
		switch l := s.latency; {
		case l == nil:
			few = append(few, s.name+" has no success")
		case !l.P95Supported:
			few = append(few, fmt.Sprintf("%s has n = %d, it needs %d", s.name, l.N, P95Needs))
		case l.P95S > most:
			over = append(over, fmt.Sprintf("%.4g s at %s", l.P95S, s.name))
		default:
			worst = max(worst, l.P95S)
		}
	}
	switch {
	case len(over) > 0:
		return Tripped, strings.Join(over, ", ")
	case len(few) > 0:
		return NotEvaluable, strings.Join(few, "; ")
	default:
		return Held, fmt.Sprintf("at most %.4g s", worst)
	}
}

func gateTimeouts(seen []looked, most float64) (verdict, says string) {
	sent, n := 0, 0
	for _, s := range seen {
		sent += s.sent
		for _, f := range s.failures {
			if record.Outcome(f.Name) == record.Timeout {
				n += f.N
			}
		}
	}
	if sent == 0 {
		return NotEvaluable, "nothing was sent"
	}
	says = fmt.Sprintf("%d of %s", n, count(sent, "request", "requests"))
	if float64(n)/float64(sent) > most {
		return Tripped, says
	}
	return Held, says
}

// gateCap trips where the server's batches are at their cap and the latency spreads more
// than at the same rung of the reference.
func gateCap(seen []looked, reference *Report, most float64) (verdict, says string) {
	var bad []string
	known := 0
	for _, s := range seen {
		if s.rung == nil || s.rung.Gauges == nil || s.rung.Gauges.AtCapShare == nil {
			continue
		}
		here, before := spreadOf(s.latency), reference.spreadAt(s.ladder, s.rung.Value)
		if here == nil || before == nil {
			continue
		}
		known++
		if share := *s.rung.Gauges.AtCapShare; share > most && *here > *before {
			bad = append(bad, fmt.Sprintf("%s of the batches at %s, where P95 is %.2f times the median and was %.2f times", percent(share), s.name, *here, *before))
		}
	}
	switch {
	case len(bad) > 0:
		return Tripped, strings.Join(bad, ", ")
	case known == 0:
		return NotEvaluable, "no rung tells its batches' sizes in this run and its latency in both"
	default:
		return Held, fmt.Sprintf("at %s", count(known, "rung", "rungs"))
	}
}

// spreadOf is P95 over the median.
func spreadOf(l *Latency) *float64 {
	if l == nil || l.MedianS <= 0 {
		return nil
	}
	return finite(l.P95S / l.MedianS)
}

// spreadAt is the spread at the rung of a run that is the same as one of another's.
func (rep *Report) spreadAt(l *Ladder, value float64) *float64 {
	for i := range rep.Ladders {
		if x := &rep.Ladders[i]; x.Name == l.Name && x.Axis == l.Axis {
			if r := x.at(&value); r != nil {
				return spreadOf(r.Latency)
			}
		}
	}
	return nil
}
