package results

import (
	"fmt"
	"math"
)

const (
	alpha = 0.05
	// leastRounds is how many rounds either run needs for a test to tell anything: of
	// three and three the least p is 0.1.
	leastRounds = 4
)

// leastP is the least that the test of Mann and Whitney can give: that of two samples
// that do not overlap, two of all orders.
func leastP(m, n int) float64 {
	lm, _ := math.Lgamma(float64(m + 1))
	ln, _ := math.Lgamma(float64(n + 1))
	all, _ := math.Lgamma(float64(m + n + 1))
	return 2 * math.Exp(lm+ln-all)
}

// compare takes passes, which nothing within them makes hang together, where they are
// enough to tell a difference among so many tests; else rounds.
func (out *RungPair) compare(a, b *walked, x, y *Rung, tests int) {
	over := "passes"
	out.LatencyOf = "p95"
	if why := failsIn(x, y); why != "" { // what a rung did beside its failures is nothing to compare
		out.Throughput.Reason, out.Latency.Reason = why, why
		return
	}
	xa, xb := known(x.ThroughputByPass), known(y.ThroughputByPass)
	pa, pb := known(x.P95ByPass), known(y.P95ByPass)
	out.Throughput.Pair = Pair{x.Throughput, y.Throughput}
	out.Latency.Pair = Pair{latencyAt(x, 0.95), latencyAt(y, 0.95)}
	if float64(tests)*leastP(min(len(xa), len(pa)), min(len(xb), len(pb))) >= alpha {
		over, out.LatencyOf = "rounds", "median"
		va, vb := a.rows[x.Index].counted(), b.rows[y.Index].counted()
		xa, xb = a.rates(va, x.Index), b.rates(vb, y.Index)
		pa, pb = medians(va), medians(vb)
		out.Latency.Pair = Pair{latencyAt(x, 0.5), latencyAt(y, 0.5)}
	}
	out.Throughput.test(over, xa, xb)
	out.Latency.test(over, pa, pb)
	if x.Memory != nil && !x.Memory.AfterHighWater {
		out.PeakBytes.A = new(float64(x.Memory.PeakBytes))
	}
	if y.Memory != nil && !y.Memory.AfterHighWater {
		out.PeakBytes.B = new(float64(y.Memory.PeakBytes))
	}
}

// failsIn names the runs in which a rung fails; "" for none.
func failsIn(x, y *Rung) string {
	switch {
	case x.Failed != "" && y.Failed != "":
		return "it fails in both"
	case x.Failed != "":
		return "it fails in A"
	case y.Failed != "":
		return "it fails in B"
	default:
		return ""
	}
}

func known(values []*float64) []float64 {
	var out []float64
	for _, v := range values {
		if v != nil {
			out = append(out, *v)
		}
	}
	return out
}

func latencyAt(r *Rung, q float64) *float64 {
	switch {
	case r.Latency == nil:
		return nil
	case q == 0.95:
		return &r.Latency.P95S
	default:
		return &r.Latency.MedianS
	}
}

// medians are those of the latencies of each round.
func medians(v visits) []float64 {
	var out []float64
	for i := range v {
		if all := v[i : i+1].latencies(); len(all) > 0 {
			out = append(out, median(all))
		}
	}
	return out
}

// test fills in the effect and its p.
func (e *Effect) test(over string, a, b []float64) {
	e.Over, e.NA, e.NB = over, len(a), len(b)
	if e.A != nil && e.B != nil && *e.A > 0 {
		e.Change = finite(*e.B / *e.A - 1)
	}
	if min(len(a), len(b)) < leastRounds {
		e.Reason = fmt.Sprintf("%d and %d %s are too few to tell, each run needs %d", len(a), len(b), over, leastRounds)
		return
	}
	p, delta := mannWhitney(a, b)
	e.P, e.Delta = finite(p), finite(delta)
}
