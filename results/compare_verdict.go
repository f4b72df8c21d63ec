package results

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// adjust holds all p values against their number.
func (c *Comparison) adjust() {
	var tests []*Effect
	var p []float64
	for i := range c.Ladders {
		for k := range c.Ladders[i].Rungs {
			r := &c.Ladders[i].Rungs[k]
			for _, e := range []*Effect{&r.Throughput, &r.Latency} {
				if e.P != nil {
					tests, p = append(tests, e), append(p, *e.P)
				}
			}
		}
	}
	c.Tests = len(tests)
	for i, adjusted := range holm(p) {
		tests[i].PHolm, tests[i].Differs = &adjusted, adjusted < c.Alpha
	}
}

// movedBytes is the share by which a peak must move to have moved.
const movedBytes = 0.02

// conclude says what moved: edges, peaks, throughput and latency. Where nothing did, a
// setting that was changed probably did not take effect.
func (c *Comparison) conclude() string {
	var says []string
	paired, tested := 0, 0
	for _, l := range c.Ladders {
		switch l.EdgeMoved {
		case "up", "down":
			says = append(says, fmt.Sprintf("the edge of ladder %q moved %s, %s", l.Name, l.EdgeMoved, l.Edge.words()))
		}
		if a, b := l.Limit.A, l.Limit.B; (a == nil) != (b == nil) || a != nil && *a != *b {
			says = append(says, fmt.Sprintf("the limit of ladder %q went %s", l.Name, l.Limit.words()))
		}
		if s := l.peaks(); s != "" {
			says = append(says, s)
		}
		says = append(says, l.differences()...)
		for _, r := range l.Rungs {
			paired++
			if r.Throughput.P != nil || r.Latency.P != nil {
				tested++
			}
		}
	}
	switch {
	case paired == 0:
		return "No rung is in both runs: nothing can be compared."
	case len(says) > 0:
		return upper(strings.Join(says, "; ")) + "."
	case c.unsettled() != "":
		return "No difference is settled, but " + c.unsettled() + ": more passes would tell."
	case tested == 0:
		return "No edge, limit or peak moved, and there are too few passes or rounds to test the rest: more passes would tell."
	case slices.ContainsFunc(c.InForce, func(s string) bool { return strings.HasPrefix(s, "not in force") }):
		return fmt.Sprintf("Nothing moved, and a change did not take effect: %s.", strings.Join(c.InForce, "; "))
	case len(c.InForce) > 0:
		return fmt.Sprintf("Nothing moved, though the server runs with other settings: %s.", strings.Join(c.InForce, "; "))
	case len(c.Settings) > 0:
		return fmt.Sprintf("Nothing moved, and settings of the server were changed (%s): they probably did not take effect.", strings.Join(c.Settings, ", "))
	default:
		return "Nothing moved. If a setting of the server was changed between the runs, it probably did not take effect."
	}
}

// unsettled is the greatest change that no test settles, where it is more than a tenth.
func (c *Comparison) unsettled() string {
	most, says := flat, ""
	for _, l := range c.Ladders {
		for i := range l.Rungs {
			r := &l.Rungs[i]
			for k, e := range []*Effect{&r.Throughput, &r.Latency} {
				if e.Change != nil && math.Abs(*e.Change) > most {
					name := []string{"throughput", "latency"}[k]
					most, says = math.Abs(*e.Change), fmt.Sprintf("the %s of ladder %q at %g is %+.0f %%", name, l.Name, r.Value, 100**e.Change)
				}
			}
		}
	}
	return says
}

func (p Pair) words() string {
	say := func(v *float64) string {
		if v == nil {
			return "none"
		}
		return fmt.Sprintf("%g", *v)
	}
	return fmt.Sprintf("from %s to %s", say(p.A), say(p.B))
}

// peaks says which way the peaks of a ladder went, where those of a rung did.
func (l *LadderPair) peaks() string {
	up, down := 0, 0
	for _, r := range l.Rungs {
		if a, b := r.PeakBytes.A, r.PeakBytes.B; a != nil && b != nil && *a > 0 && math.Abs(*b / *a - 1) > movedBytes {
			if *b > *a {
				up++
			} else {
				down++
			}
		}
	}
	switch {
	case down > 0 && up == 0:
		return fmt.Sprintf("the peaks of ladder %q fell at %s", l.Name, count(down, "rung", "rungs"))
	case up > 0 && down == 0:
		return fmt.Sprintf("the peaks of ladder %q rose at %s", l.Name, count(up, "rung", "rungs"))
	case up+down > 0:
		return fmt.Sprintf("the peaks of ladder %q rose at %d and fell at %d rungs", l.Name, up, down)
	default:
		return ""
	}
}

// differences sum up the rungs at which a figure differs by more than chance.
func (l *LadderPair) differences() []string {
	var out []string
	for _, of := range []struct {
		name string
		get  func(*RungPair) *Effect
	}{
		{"throughput", func(r *RungPair) *Effect { return &r.Throughput }},
		{"latency", func(r *RungPair) *Effect { return &r.Latency }},
	} {
		n, least, most := 0, math.Inf(1), math.Inf(-1)
		for i := range l.Rungs {
			if e := of.get(&l.Rungs[i]); e.Differs && e.Change != nil {
				n++
				least, most = math.Min(least, *e.Change), math.Max(most, *e.Change)
			}
		}
		if n == 0 {
			continue
		}
		by := fmt.Sprintf("%+.0f", 100*least)
		if high := fmt.Sprintf("%+.0f", 100*most); high != by {
			by += " to " + high
		}
		by += " %"
		out = append(out, fmt.Sprintf("the %s of ladder %q differs by %s at %d of %s", of.name, l.Name, by, n, count(len(l.Rungs), "rung", "rungs")))
	}
	return out
}
