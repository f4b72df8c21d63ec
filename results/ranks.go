package results

import (
	"math"
	"slices"
)

// mostExact bounds the sizes for which the distribution of U is counted out.
const mostExact = 20

// mannWhitney is the two-sided p that two samples come from one distribution ("On a Test
// of Whether one of Two Random Variables is Stochastically Larger than the Other", 1947),
// and Cliff's delta, the share of the pairs in which y is greater less that in which x
// is. Small samples without ties are counted out; others go by the rank test's own
// approximation. NaN without values.
func mannWhitney(x, y []float64) (p, delta float64) {
	if len(x) == 0 || len(y) == 0 {
		return math.NaN(), math.NaN()
	}
	greater, ties := 0, 0
	for _, a := range x {
		for _, b := range y {
			switch {
			case b > a:
				greater++
			case b == a:
				ties++
			}
		}
	}
	pairs := len(x) * len(y)
	delta = float64(2*greater+ties-pairs) / float64(pairs)
	if ties > 0 || len(x) > mostExact || len(y) > mostExact || repeats(x) || repeats(y) {
		return kruskalWallis([][]float64{x, y}), delta
	}
	ways := waysOfU(len(x), len(y))
	total, tail := 0.0, 0.0
	low := min(greater, pairs-greater)
	for u, n := range ways {
		total += n
		if u <= low {
			tail += n
		}
	}
	return min(1, 2*tail/total), delta
}

// repeats says that a value stands twice in a sample.
func repeats(x []float64) bool {
	s := slices.Sorted(slices.Values(x))
	for i := 1; i < len(s); i++ {
		if s[i] == s[i-1] {
			return true
		}
	}
	return false
}

// waysOfU counts the orders of m and n values by the pairs in which the second sample's
// is the greater.
func waysOfU(m, n int) []float64 {
	// ways[i][u] over i values of the first sample, one value of the second at a time:
	// the greatest value is of the first, or it is of the second and greater than all i.
	ways := make([][]float64, m+1)
	for i := range ways {
		ways[i] = make([]float64, m*n+1)
		ways[i][0] = 1
	}
	for range n {
		next := make([][]float64, m+1)
		for i := range next {
			next[i] = make([]float64, m*n+1)
			for u := range next[i] {
				if u >= i {
					next[i][u] = ways[i][u-i]
				}
				if i > 0 {
					next[i][u] += next[i-1][u]
				}
			}
		}
		ways = next
	}
	return ways[m]
}

// holm are p values held against being many ("A Simple Sequentially Rejective Multiple
// Test Procedure", 1979): each is multiplied by how many are not smaller, and none is
// less than one before it.
func holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		default:
			return 0
		}
	})
	out := make([]float64, len(p))
	most := 0.0
	for i, k := range order {
		most = max(most, min(1, float64(len(p)-i)*p[k]))
		out[k] = most
	}
	return out
}
