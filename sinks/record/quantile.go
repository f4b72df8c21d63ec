package record

import "math"

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
