package results

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"rung/sinks/record"
)

// The least numbers of values on which a quantile has any 95 % interval.
func TestLeastOfAnInterval(t *testing.T) {
	for _, tt := range []struct {
		q     float64
		least int
	}{{0.5, 6}, {0.9, 29}, {0.95, P95Needs}, {0.99, P99Needs}, {0.999, 2995}} {
		values := make([]float64, tt.least)
		for i := range values {
			values[i] = float64(i + 1)
		}
		if byRanks(values[:tt.least-1], tt.q) != nil {
			t.Errorf("P%g of %d values has an interval", 100*tt.q, tt.least-1)
		}
		if in := byRanks(values, tt.q); in == nil || in.High != float64(tt.least) {
			t.Errorf("P%g of %d values: %v", 100*tt.q, tt.least, in)
		}
	}
	for n := range 3 {
		if byRanks(make([]float64, n), 0.5) != nil {
			t.Errorf("an interval of %d values", n)
		}
	}
}

// An interval holds the true quantile in 95 % of samples or more.
func TestIntervalsCover(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, tt := range []struct {
		q float64
		n int
	}{{0.5, 20}, {0.5, 200}, {0.95, 59}, {0.95, 400}, {0.99, 400}} {
		const trials = 4000
		held := 0
		for range trials {
			values := make([]float64, tt.n)
			for i := range values {
				values[i] = rng.ExpFloat64()
			}
			slices.Sort(values)
			truth := -math.Log(1 - tt.q)
			if in := byRanks(values, tt.q); in.Low <= truth && truth <= in.High {
				held++
			}
			if in := byRanks(values, tt.q); record.Quantile(values, tt.q) < in.Low || record.Quantile(values, tt.q) > in.High {
				t.Fatalf("the estimate lies outside %v", in)
			}
		}
		if share := float64(held) / trials; share < 0.94 {
			t.Errorf("P%g of %d: held in %.3f", 100*tt.q, tt.n, share)
		}
	}
}

// Clopper and Pearson's limits as tables give them.
func TestFailureRate(t *testing.T) {
	for _, tt := range []struct {
		k, n      int
		low, high float64
	}{
		{0, 10, 0, 0.25887}, {0, 100, 0, 0.029513}, {0, 3000, 0, 0.000998}, {1, 10, 0.002529, 0.445016}, {5, 10, 0.187086, 0.812914},
		{2, 40, 0.006114, 0.169196}, {10, 1000, 0.004805, 0.018313}, {10, 10, 0.741134, 1}, {500_000, 1_000_000, 0.4990196, 0.5009804},
	} {
		r := failureRate(tt.k, tt.n)
		if math.Abs(r.Low-tt.low) > 2e-6 && math.Abs(r.Low-tt.low) > 1e-4*tt.low || math.Abs(r.High-tt.high) > 1e-4*tt.high {
			t.Errorf("%d of %d: %.6f to %.6f, want %.6f to %.6f", tt.k, tt.n, r.Low, r.High, tt.low, tt.high)
		}
	}
	if failureRate(0, 0) != nil {
		t.Error("a rate of no request")
	}
}
