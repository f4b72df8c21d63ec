package record

import "math"

// Quantile interpolates linearly between the order statistics (Hyndman and Fan,
// Sample Quantiles in Statistical Packages, 1996, type 7), as NumPy, pandas and
// DuckDB's quantile_cont do. sorted must ascend; it is NaN where sorted is empty.
func Quantile(sorted []float64, q float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	at := q * float64(n-1)
	i := min(int(at), n-1)
	if i+1 >= n {
		return sorted[n-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
