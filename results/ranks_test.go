package results

import (
	"math"
	"slices"
	"testing"
)

// By hand: of the 20 orders of three and three, one has no pair the other way; of the
// 252 of five and five likewise one.
func TestMannWhitney(t *testing.T) {
	for _, tt := range []struct {
		x, y     []float64
		p, delta float64
	}{
		{[]float64{1, 2, 3}, []float64{4, 5, 6}, 2.0 / 20, 1},
		{[]float64{4, 5, 6}, []float64{1, 2, 3}, 2.0 / 20, -1},
		{[]float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}, 2.0 / 252, 1},
		{[]float64{1, 2, 3, 4, 6}, []float64{5, 7, 8, 9, 10}, 4.0 / 252, 23.0/25 - 0},
		{[]float64{1, 3}, []float64{2, 4}, 4.0 / 6, 0.5},
		{[]float64{1, 4}, []float64{2, 3}, 1, 0},
	} {
		p, delta := mannWhitney(tt.x, tt.y)
		if math.Abs(p-tt.p) > 1e-12 || math.Abs(delta-tt.delta) > 1e-12 {
			t.Errorf("%v against %v: p %.4f, delta %.3f; want %.4f, %.3f", tt.x, tt.y, p, delta, tt.p, tt.delta)
		}
	}
	if p, _ := mannWhitney(nil, []float64{1}); !math.IsNaN(p) {
		t.Error(p)
	}
	// Ties go by the approximation.
	if p, delta := mannWhitney([]float64{1, 1, 2}, []float64{1, 1, 2}); p != 1 || delta != 0 {
		t.Errorf("p %g, delta %g", p, delta)
	}
}

// The counts are those of all orders, tried one by one.
func TestWaysOfU(t *testing.T) {
	for m := 1; m <= 4; m++ {
		for n := 1; n <= 4; n++ {
			want := make([]float64, m*n+1)
			for set := range 1 << (m + n) { // which ranks are the second sample's
				var ones []int
				for i := range m + n {
					if set>>i&1 == 1 {
						ones = append(ones, i)
					}
				}
				if len(ones) != n {
					continue
				}
				u := 0
				for k, rank := range ones {
					u += rank - k // of the first sample below it
				}
				want[u]++
			}
			if got := waysOfU(m, n); !slices.Equal(got, want) {
				t.Errorf("%d and %d: %v, want %v", m, n, got, want)
			}
		}
	}
}

// As in the paper's kind of example: 0.01, 0.02, 0.03, 0.04 of four.
func TestHolm(t *testing.T) {
	got := holm([]float64{0.04, 0.01, 0.03, 0.02})
	want := []float64{0.06, 0.04, 0.06, 0.06}
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-12 {
			t.Errorf("%v, want %v", got, want)
			break
		}
	}
}
