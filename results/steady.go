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
	swings    = 0.25 // or the slowest and the quickest round of a pass by this: in a closed loop one round may lock in otherwise than the next
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
	each(len(w.out.Rungs), func(i int) {
		r := &w.out.Rungs[i]
		queued := w.plan.Axis == plan.AxisConcurrency && w.out.Knee.Best != nil && r.Value > *w.out.Knee.Best ||
			slots != nil && *slots > 0 && r.Shape.InFlight > *slots
		r.Steady = w.steadyAt(w.rows[r.Index].counted(), r.Shape.InFlight, queued)
	})
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
		how, told := apart(first, last, moved)
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
		times := a.rows.Round().Times
		for n, at := range bySend(times) {
			early := n < inFlight && (i == 0 || inFlight > 1)
			if !early && a.rows.Kind(at).Outcome == record.OK {
				out = append(out, times[at].LatencyS())
			}
		}
	}
	return out
}

// bySend gives the places of requests in the order of their sends.
func bySend(times []record.Times) []int {
	order := make([]int, len(times))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(times[i].SentTS, times[j].SentTS) })
	return order
}

// swing says whether the rounds of a pass are unlike: rounds that go up and down have
// like thirds.
func swing(rounds visits) (how string, told bool) {
	type round struct {
		latencies []float64
		median    float64
	}
	var each []round
	for i := range rounds {
		if l := rounds[i : i+1].latencies(); len(l) >= leastEach {
			each = append(each, round{l, median(l)})
		}
	}
	if len(each) < 2 {
		return "", false
	}
	slices.SortStableFunc(each, func(a, b round) int { return cmp.Compare(a.median, b.median) })
	samples := make([][]float64, len(each))
	for i := range each {
		samples[i] = each[i].latencies
	}
	return unlike(samples, swings), true
}

// apart says by how much two thirds differ; told is false where there are too few
// values.
func apart(a, b []float64, share float64) (how string, told bool) {
	if len(a) < leastEach || len(b) < leastEach {
		return "", false
	}
	return unlike([][]float64{a, b}, share), true
}

// unlike says how the first and the last of some samples differ, where that is by more
// than a share and all of them differ by more than chance; else "".
func unlike(samples [][]float64, share float64) string {
	x, y := median(samples[0]), median(samples[len(samples)-1])
	if x <= 0 || math.Abs(y/x-1) <= share {
		return ""
	}
	p := kruskalWallis(samples)
	if p >= chance {
		return ""
	}
	return fmt.Sprintf("%.3g s and %.3g s in the median (p %.1g)", x, y, p)
}

// kruskalWallis is the p of the rank test that samples come from one distribution
// ("Use of Ranks in One-Criterion Variance Analysis", 1952), corrected for ties; of two
// samples it is that of Mann and Whitney. The tail of chi-squared is taken by Wilson
// and Hilferty's cube root, which is right to a few in a thousand.
func kruskalWallis(samples [][]float64) float64 {
	type value struct {
		x  float64
		of int
	}
	var all []value
	for i, s := range samples {
		for _, x := range s {
			all = append(all, value{x, i})
		}
	}
	slices.SortFunc(all, func(a, b value) int { return cmp.Compare(a.x, b.x) })
	n, ties := float64(len(all)), 0.0
	ranks := make([]float64, len(samples))
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].x == all[i].x {
			j++
		}
		t := float64(j - i)
		ties += t*t*t - t
		for k := i; k < j; k++ {
			ranks[all[k].of] += float64(i+j+1) / 2
		}
		i = j
	}
	h := -3 * (n + 1)
	for i, r := range ranks {
		h += 12 / (n * (n + 1)) * r * r / float64(len(samples[i]))
	}
	correct, freedom := 1-ties/(n*n*n-n), float64(len(samples)-1)
	if correct <= 0 {
		return 1
	}
	h = math.Max(0, h/correct)
	if freedom == 1 {
		return math.Erfc(math.Sqrt(h / 2))
	}
	v := 2 / (9 * freedom)
	return math.Erfc((math.Cbrt(h/freedom)-1+v)/math.Sqrt(2*v)) / 2
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
