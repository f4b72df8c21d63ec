package results

import (
	"math"
	"slices"

	"rung/sinks/record"
)

// P95Needs and P99Needs are the least numbers of values on which the 95th and the 99th
// percentile have any 95 % interval by ranks: 1 - 0.95^n >= 0.95, 1 - 0.99^n >= 0.95.
const (
	P95Needs = 59
	P99Needs = 299
)

// median is the middle of values in any order; NaN for none.
func median(values []float64) float64 {
	return record.QuantileOf(slices.Clone(values), 0.5)
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

// Latency sums up spans of successes, in seconds: their latency (due to done) or, of
// streams, a part of it.
type Latency struct {
	N       int     `json:"n"`
	MinS    float64 `json:"min_s"`
	MedianS float64 `json:"median_s"`
	MeanS   float64 `json:"mean_s"`
	P95S    float64 `json:"p95_s"`
	P99S    float64 `json:"p99_s"`
	MaxS    float64 `json:"max_s"`
	// P95Supported says that N reaches 59, the least for which the 95th
	// percentile has any 95 % interval. On fewer it is printed with a mark.
	P95Supported bool `json:"p95_supported"`
	P99Supported bool `json:"p99_supported"` // the same of 299

	// The intervals of 95 % by ranks, in seconds; nil where there are too few values, or
	// where they hang together.
	MedianIn *Interval `json:"median_interval,omitempty"`
	P95In    *Interval `json:"p95_interval,omitempty"`
	P99In    *Interval `json:"p99_interval,omitempty"`
}

// summarise takes latencies in any order; nil for none.
func summarise(latencies []float64) *Latency {
	if len(latencies) == 0 {
		return nil
	}
	s := latencies
	slices.Sort(s)
	return &Latency{
		N: len(s), MinS: s[0], MedianS: record.Quantile(s, 0.5), MeanS: mean(s), P95S: record.Quantile(s, 0.95), P99S: record.Quantile(s, 0.99), MaxS: s[len(s)-1],
		P95Supported: len(s) >= P95Needs, P99Supported: len(s) >= P99Needs,
		MedianIn: byRanks(s, 0.5), P95In: byRanks(s, 0.95), P99In: byRanks(s, 0.99),
	}
}
