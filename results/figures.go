package results

import (
	"math"
	"slices"

	"rung/sinks/record"
)

// p95Needs is the least number of values on which the 95th percentile has any
// 95 % interval by ranks: 1 - 0.95^n >= 0.95.
const p95Needs = 59

// median is the middle of values in any order; NaN for none.
func median(values []float64) float64 {
	return record.Quantile(slices.Sorted(slices.Values(values)), 0.5)
}

// mean is NaN for no values.
func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// standardError is that of the mean of values: the sample's deviation (n - 1)
// over the root of n. It is 0 for fewer than two, which tell of no spread.
func standardError(values []float64) float64 {
	n := float64(len(values))
	if n < 2 {
		return 0
	}
	m := mean(values)
	var ss float64
	for _, v := range values {
		ss += (v - m) * (v - m)
	}
	return math.Sqrt(ss / (n - 1) / n)
}

// Latency sums up the latencies (due to done) of successes, in seconds.
type Latency struct {
	N       int     `json:"n"`
	MinS    float64 `json:"min_s"`
	MedianS float64 `json:"median_s"`
	MeanS   float64 `json:"mean_s"`
	P95S    float64 `json:"p95_s"`
	MaxS    float64 `json:"max_s"`
	// P95Supported says that N reaches 59, the least for which the 95th
	// percentile has any 95 % interval. On fewer it is printed with a mark.
	P95Supported bool `json:"p95_supported"`
}

// summarise takes latencies in any order; nil for none.
func summarise(latencies []float64) *Latency {
	if len(latencies) == 0 {
		return nil
	}
	s := slices.Sorted(slices.Values(latencies))
	return &Latency{
		N: len(s), MinS: s[0], MedianS: record.Quantile(s, 0.5), MeanS: mean(s), P95S: record.Quantile(s, 0.95), MaxS: s[len(s)-1],
		P95Supported: len(s) >= p95Needs,
	}
}
