package results

import "math"

// level is that of every interval.
const level = 0.95

// Interval is one of 95 %, in the unit of the figure that it is of.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// byRanks is the interval of a quantile q by ranks of the sorted values: the fewest
// neighbouring ranks l to u for which
//
//	P(x(l) <= quantile <= x(u)) = sum over i from l to u-1 of C(n,i) q^i (1-q)^(n-i)
//
// reaches 95 %. nil where none does: that takes 6 values for the median, 59 for P95, 299
// for P99.
func byRanks(sorted []float64, q float64) *Interval {
	n := len(sorted)
	p := func(i int) float64 {
		if i < 1 || i > n-1 {
			return 0
		}
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(i + 1))
		c, _ := math.Lgamma(float64(n - i + 1))
		return math.Exp(a - b - c + float64(i)*math.Log(q) + float64(n-i)*math.Log1p(-q))
	}
	mode := min(max(int(float64(n+1)*q), 1), n-1)
	low, high := mode, mode // of i
	sum := p(mode)
	for sum < level {
		down, up := p(low-1), p(high+1)
		switch {
		case down == 0 && up == 0:
			return nil
		case up >= down:
			high, sum = high+1, sum+up
		default:
			low, sum = low-1, sum+down
		}
	}
	return &Interval{sorted[low-1], sorted[high]}
}

// Rate is a share of requests and what it can be said to be.
type Rate struct {
	N        int     `json:"n"`
	Failed   int     `json:"failed"`
	Interval         // of the rate, by Clopper and Pearson; of no failure from 0 to 1-0.05^(1/n), about 3/n
	Observed float64 `json:"observed"`
}

// failureRate is that of n requests of which k failed; nil of none ("The Use of Confidence
// or Fiducial Limits Illustrated in the Case of the Binomial", 1934).
func failureRate(k, n int) *Rate {
	if n <= 0 || k < 0 || k > n {
		return nil
	}
	out := &Rate{N: n, Failed: k, Observed: float64(k) / float64(n)}
	tail := (1 - level) / 2
	switch k {
	case 0:
		out.High = 1 - math.Pow(1-level, 1/float64(n))
		return out
	case n:
		out.Low, out.High = math.Pow(1-level, 1/float64(n)), 1
		return out
	}
	// P(X >= k) = I_p(k, n-k+1), which rises with p, and P(X <= k) = 1 - I_p(k+1, n-k).
	a, b := float64(k), float64(n-k)
	out.Low = bisect(func(p float64) bool { return betaShare(p, a, b+1) < tail })
	out.High = bisect(func(p float64) bool { return betaShare(p, a+1, b) < 1-tail })
	return out
}

// bisect is where, from 0 to 1, what is below ends.
func bisect(below func(float64) bool) float64 {
	low, high := 0.0, 1.0
	for range 60 {
		if mid := (low + high) / 2; below(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// betaShare is the regularised incomplete beta function I_x(a, b), by its continued
// fraction (Abramowitz and Stegun, 26.5.8) in Lentz's form.
func betaShare(x, a, b float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2): // there the fraction of the other side converges quickly
		return 1 - betaShare(1-x, b, a)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab - la - lb + a*math.Log(x) + b*math.Log1p(-x))
	const tiny, enough, most = 1e-300, 1e-14, 10_000
	away := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/away(1-(a+b)*x/(a+1))
	sum := d
	for m := 1.0; m < most; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d, c = 1/away(1+even*d), away(1+even/c)
		sum *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d, c = 1/away(1+odd*d), away(1+odd/c)
		sum *= d * c
		if math.Abs(d*c-1) < enough {
			break
		}
	}
	return front * sum / a
}
