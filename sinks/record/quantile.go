package record

import (
	"math"
	"math/bits"
	"slices"
)

// Quantile interpolates linearly between order statistics (Hyndman and Fan,
// "Sample Quantiles in Statistical Packages", 1996, definition 7), as NumPy,
// pandas and DuckDB's quantile_cont do. sorted rises; q is in [0, 1]. It is NaN
// where sorted is empty. The rounding is DuckDB's: low + (high - low)*fraction,
// not fused.
func Quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := float64(len(sorted)-1) * q
	i := int(math.Floor(at))
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	step := float64((sorted[i+1] - sorted[i]) * (at - float64(i)))
	return sorted[i] + step
}

// QuantileOf is Quantile of values in any order, which it changes. Of many values it takes a
// fraction of the time that sorting them does.
func QuantileOf(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	if slices.ContainsFunc(values, math.IsNaN) { // which are neither less nor more than others
		slices.Sort(values)
		return Quantile(values, q)
	}
	at := int(math.Floor(float64(len(values)-1) * q))
	selectNth(values, at)
	if at+1 < len(values) {
		next := slices.Index(values[at+1:], slices.Min(values[at+1:])) + at + 1
		values[at+1], values[next] = values[next], values[at+1]
	}
	return Quantile(values, q) // which looks at these two alone
}

// selectNth puts the k-th least value at k, with none greater before it and none less behind
// (Hoare, "Algorithm 65: find", 1961). Values on which that would take long are sorted.
func selectNth(v []float64, k int) {
	const few = 32
	for left := 2 * bits.Len(uint(len(v))); len(v) > 1; left-- {
		if len(v) <= few || left == 0 {
			slices.Sort(v)
			return
		}
		i, j := split(v)
		switch {
		case k <= j:
			v = v[:j+1]
		case k >= i:
			v, k = v[i:], k-i
		default:
			return
		}
	}
}

// split parts values around one of them: none up to j is greater than those from i on, and
// what lies between is equal to it.
func split(v []float64) (i, j int) {
	pivot := middle(v[0], v[len(v)/2], v[len(v)-1])
	i, j = 0, len(v)-1
	for i <= j {
		for v[i] < pivot {
			i++
		}
		for v[j] > pivot {
			j--
		}
		if i <= j {
			v[i], v[j] = v[j], v[i]
			i++
			j--
		}
	}
	return i, j
}

// middle is the median of three.
func middle(a, b, c float64) float64 { return max(min(a, b), min(max(a, b), c)) }
