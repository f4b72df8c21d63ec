package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"rung/sinks/record"
	"rung/spec/plan"
)

// Steady says whether a rung's latency stood still while it was measured.
type Steady struct {
	Verdict string `json:"verdict"` // steady, not steady, unknown
	Passes  int    `json:"passes"`  // that were looked at
	Moved   int    `json:"moved"`   // of them, in which it did not stand still
	How     string `json:"how"`
}

// The verdicts on steadiness.
const (
	IsSteady      = "steady"
	NotSteady     = "not steady"
	SteadyUnknown = "unknown"
)

const (
	moved     = 0.05 // first and last third differ by more than this
	swings    = 0.10 // or the slowest and the quickest round of a pass by this
	chance    = 0.01 // and by more than chance
	leastEach = 5    // values on either side; fewer tell nothing at that level
)

// steady fills in whether the rungs stood still. That one did not is said, and is no
// reason to refuse it. best is the knee's best rung: above it more is in flight than
// the server runs at once, and how long a request waits depends on how far the round is.
func (w *walked) steady(slots *int) {
	if w.plan.Axis == plan.AxisRate {
		return // an open loop's queue is its own matter, and capacity tells of it
	}
	for i := range w.out.Rungs {
		r := &w.out.Rungs[i]
		queued := w.plan.Axis == plan.AxisConcurrency && w.out.Knee.Best != nil && r.Value > *w.out.Knee.Best ||
			slots != nil && *slots > 0 && r.Shape.InFlight > *slots
		r.Steady = w.steadyAt(w.rows[r.Index].counted(), r.Shape.InFlight, queued)
	}
}

func (w *walked) steadyAt(v visits, inFlight int, queued bool) *Steady {
	s := &Steady{Verdict: SteadyUnknown}
	for _, p := range w.plan.Passes {
		rounds := v.pass(p.Index)
		var first, last []float64
		if queued {
			if len(rounds) < 3 {
				continue
			}
			n := len(rounds) / 3
			first, last = rounds[:n].latencies(), rounds[len(rounds)-n:].latencies()
		} else {
			all := settled(rounds, inFlight)
			first, last = all[:len(all)/3], all[len(all)-len(all)/3:]
		}
		how, told := apart(first, last, moved, 1)
		if how != "" {
			how = "its first and last third are " + how
		} else if by, ok := swing(rounds); ok {
			told = true
			if by != "" {
				how = "its rounds are " + by
			}
		}
		if !told {
			continue
		}
		s.Passes++
		if how != "" {
			if s.Moved == 0 {
				s.How = fmt.Sprintf("pass %d: %s", p.Index+1, how)
			}
			s.Moved++
		}
	}
	switch {
	case s.Passes == 0:
		s.How = "too few requests to tell"
		if queued {
			s.How = "more in flight than the server runs at once, and fewer than three rounds to compare"
		}
	case 2*s.Moved >= s.Passes:
		s.Verdict = NotSteady
	default:
		s.Verdict = IsSteady
	}
	return s
}

// settled gives the latencies of rounds in the order of their sends, without the first
// sends, which find the server as no later one does.
func settled(rounds visits, inFlight int) []float64 {
	var out []float64
	for i, a := range rounds {
		sent := slices.Clone(a.rows)
		slices.SortStableFunc(sent, func(x, y record.Request) int { return cmp.Compare(x.SentTS, y.SentTS) })
		for n, r := range sent {
			early := n < inFlight && (i == 0 || inFlight > 1)
			if r.Outcome == record.OK && !early {
				out = append(out, r.LatencyS())
			}
		}
	}
	return out
}

// swing holds the slowest round of a pass against the quickest: rounds that go up and
// down have like thirds. The more rounds there are, the more pairs might differ.
func swing(rounds visits) (how string, told bool) {
	var each [][]float64
	for i := range rounds {
		if l := rounds[i : i+1].latencies(); len(l) >= leastEach {
			each = append(each, l)
		}
	}
	if len(each) < 2 {
		return "", false
	}
	slices.SortStableFunc(each, func(a, b []float64) int { return cmp.Compare(median(a), median(b)) })
	return apart(each[0], each[len(each)-1], swings, len(each)*(len(each)-1)/2)
}

// apart says by how much two samples differ, where that is more than a share and than
// chance; tests is among how many such comparisons this one was picked. told is false
// where there are too few values.
func apart(a, b []float64, share float64, tests int) (how string, told bool) {
	if len(a) < leastEach || len(b) < leastEach {
		return "", false
	}
	x, y := median(a), median(b)
	if x <= 0 || math.Abs(y/x-1) <= share {
		return "", true
	}
	p := mannWhitney(a, b) * float64(tests)
	if p >= chance {
		return "", true
	}
	return fmt.Sprintf("%.3g s and %.3g s in the median (p %.1g)", x, y, p), true
}

// mannWhitney is the two-sided p of the rank test that two samples come from one
// distribution, by the normal approximation with the correction for ties and for
// continuity.
func mannWhitney(a, b []float64) float64 {
	type value struct {
		x     float64
		first bool
	}
	var all []value
	for _, x := range a {
		all = append(all, value{x, true})
	}
	for _, x := range b {
		all = append(all, value{x, false})
	}
	slices.SortFunc(all, func(p, q value) int { return cmp.Compare(p.x, q.x) })
	n1, n2, n := float64(len(a)), float64(len(b)), float64(len(all))
	ranks, ties := 0.0, 0.0
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].x == all[i].x {
			j++
		}
		t := float64(j - i)
		ties += t*t*t - t
		for k := i; k < j; k++ {
			if all[k].first {
				ranks += float64(i+j+1) / 2
			}
		}
		i = j
	}
	u := ranks - n1*(n1+1)/2
	variance := n1 * n2 / 12 * (n + 1 - ties/(n*(n-1)))
	if variance <= 0 {
		return 1
	}
	z := math.Max(0, math.Abs(u-n1*n2/2)-0.5) / math.Sqrt(variance)
	return math.Erfc(z / math.Sqrt2)
}

// unsteadyAt names the rungs below the edge that did not stand still.
func (l *Ladder) unsteadyAt() string {
	var out []string
	for _, r := range l.Rungs {
		if r.Steady != nil && r.Steady.Verdict == NotSteady && (l.Edge == nil || r.Index < l.Edge.Index) {
			out = append(out, fmt.Sprintf("%g", r.Value))
		}
	}
	return strings.Join(out, ", ")
}
