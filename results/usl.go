package results

import (
	"fmt"
	"math"

	"rung/spec/plan"
)

// Beside is what else can be said of a ladder's bend, as explanation: nothing of it is
// the verdict, which is the declared rule's alone.
type Beside struct {
	Rules []RuleSays `json:"rules"`
	// NStar is X_max·R1, the number in flight at which a server that loses nothing to
	// waiting reaches its greatest throughput; of concurrency ladders with a rung of 1.
	NStar *float64 `json:"n_star,omitempty"`
	USL   *USL     `json:"usl,omitempty"`
}

// RuleSays is what a rule that was not declared answers.
type RuleSays struct {
	Rule   string `json:"rule"`
	Answer Answer `json:"answer"`
	Says   string `json:"says"`
}

// USL is Gunther's Universal Scalability Law, X = λN / (1 + σ(N-1) + κN(N-1)), fitted to
// the usable rungs by relative least squares of N/X, which is linear in 1/λ, σ/λ and κ/λ;
// none of the three is below 0.
type USL struct {
	Lambda float64  `json:"lambda"` // throughput of a load of 1
	Sigma  float64  `json:"sigma"`  // contention
	Kappa  float64  `json:"kappa"`  // coherency
	Error  float64  `json:"error"`  // root mean square of the relative residuals
	PeakAt *float64 `json:"peak_at,omitempty"`
}

// leastFit is how many rungs the fit takes: one more than it has parameters.
const leastFit = 4

// beside says what the other rules answer on the same curve.
func (w *walked) beside(c curve) *Beside {
	out := &Beside{Rules: []RuleSays{}}
	for _, name := range []string{"power", "half_increment", "gain_and_p95"} {
		if name == w.rules.Knee.Rule {
			continue
		}
		if name == "gain_and_p95" && c.base <= 0 {
			out.Rules = append(out.Rules, RuleSays{name, NoAnswer, "no P95 of a single request is known"})
			continue
		}
		r, _ := ruleNamed(name)
		var k Knee
		k.take(r(w.rules.Knee, c), c)
		out.Rules = append(out.Rules, RuleSays{name, k.Answer, k.Reason})
	}
	x := make([]float64, len(c.load))
	for i := range x {
		x[i] = median(column(c.x, i))
	}
	if w.plan.Axis == plan.AxisConcurrency && c.load[0] == 1 && x[0] > 0 {
		most := 0.0
		for _, v := range x {
			most = math.Max(most, v)
		}
		out.NStar = finite(most / x[0])
	}
	out.USL = fitUSL(c.load, x)
	return out
}

// fitUSL puts the law through points; nil where they are too few, or no law fits.
func fitUSL(load, x []float64) *USL {
	if len(load) < leastFit {
		return nil
	}
	var best *USL
	for _, with := range [][]int{{0, 1, 2}, {0, 1}, {0, 2}, {0}} { // which of the three are not 0
		p, ok := leastSquares(load, x, with)
		if !ok || p[0] <= 0 || p[1] < 0 || p[2] < 0 {
			continue
		}
		u := &USL{Lambda: 1 / p[0], Sigma: p[1] / p[0], Kappa: p[2] / p[0]}
		u.Error = u.residual(load, x)
		if finite(u.Error) != nil && (best == nil || u.Error < best.Error) {
			best = u
		}
	}
	if best != nil && best.Kappa > 0 && best.Sigma < 1 {
		best.PeakAt = finite(math.Sqrt((1 - best.Sigma) / best.Kappa))
	}
	return best
}

func terms(n float64) [3]float64 { return [3]float64{1, n - 1, n * (n - 1)} }

// at is the law's throughput at a load.
func (u *USL) at(n float64) float64 {
	return u.Lambda * n / (1 + u.Sigma*(n-1) + u.Kappa*n*(n-1))
}

func (u *USL) residual(load, x []float64) float64 {
	sum := 0.0
	for i, n := range load {
		d := u.at(n)/x[i] - 1
		sum += d * d
	}
	return math.Sqrt(sum / float64(len(load)))
}

// leastSquares solves for the coefficients of N/X, relative to it, by the normal
// equations of the terms that are wanted; the others are 0.
func leastSquares(load, x []float64, with []int) (p [3]float64, ok bool) {
	k := len(with)
	m := make([][]float64, k)
	for i := range m {
		m[i] = make([]float64, k+1)
	}
	for i, n := range load {
		if x[i] <= 0 || n <= 0 {
			return p, false
		}
		y := n / x[i]
		t := terms(n)
		for a, ta := range with {
			for b, tb := range with {
				m[a][b] += t[ta] * t[tb] / (y * y)
			}
			m[a][k] += t[ta] / y
		}
	}
	for a := range m { // Gauss and Jordan; the matrix is positive definite
		if math.Abs(m[a][a]) < 1e-300 {
			return p, false
		}
		for b := range m {
			if b == a {
				continue
			}
			f := m[b][a] / m[a][a]
			for c := range m[b] {
				m[b][c] -= f * m[a][c]
			}
		}
	}
	for a, ta := range with {
		p[ta] = m[a][k] / m[a][a]
	}
	return p, true
}

// Words tell the law's fit in a sentence.
func (u *USL) Words() string {
	s := fmt.Sprintf("λ %.4g, σ %.3g, κ %.3g, off by %s in the root mean square", u.Lambda, u.Sigma, u.Kappa, percent(u.Error))
	if u.PeakAt != nil {
		s += fmt.Sprintf(", greatest at %.3g", *u.PeakAt)
	}
	return s
}
