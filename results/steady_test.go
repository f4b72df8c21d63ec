package results

import (
	"math"
	"testing"
)

// Worked by hand. Five below five: H = 12/(10·11)·(15²/5 + 40²/5) - 33 = 6.8182, of one
// degree. With ties: the ranks sum to 29 and 49, H is 2.5641 before and 2.7778 after
// the correction. Of three: 12/(9·10)·(6² + 15² + 24²)/3 - 30 = 7.2, and exp(-3.6) of two.
func TestKruskalWallis(t *testing.T) {
	for _, c := range []struct {
		samples [][]float64
		want    float64
		within  float64
	}{
		{[][]float64{{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}}, math.Erfc(math.Sqrt(6.818182 / 2)), 1e-6},
		{[][]float64{{1, 1, 2, 2, 3, 3}, {2, 2, 3, 3, 4, 4}}, math.Erfc(math.Sqrt(2.777778 / 2)), 1e-6},
		{[][]float64{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}, math.Exp(-3.6), 2e-3},
		{[][]float64{{1, 2, 3}, {1, 2, 3}}, 1, 1e-9},
		{[][]float64{{7, 7, 7}, {7, 7, 7}}, 1, 1e-9},
	} {
		if got := kruskalWallis(c.samples); math.Abs(got-c.want) > c.within {
			t.Errorf("%v: p %.6g, want %.6g", c.samples, got, c.want)
		}
	}
}
