package render

import "math"

// scale maps values to coordinates.
type scale struct {
	low, high float64 // values, or their logarithms
	from, to  float64 // coordinates
	log       bool
}

// leastLog is what stands for values that have no logarithm.
const leastLog = 1e-6

func log2(v float64) float64 { return math.Log2(math.Max(v, leastLog)) }

func (s scale) at(v float64) float64 {
	if s.log {
		v = log2(v)
	}
	if s.high == s.low {
		return (s.from + s.to) / 2
	}
	return s.from + (v-s.low)/(s.high-s.low)*(s.to-s.from)
}

// linear runs from 0 to a little above high; its ticks are round.
func linear(high, from, to float64) (scale, []float64) {
	if high <= 0 || math.IsNaN(high) || math.IsInf(high, 0) {
		high = 1
	}
	step, top := nice(high/4.5), high*1.08
	var ticks []float64
	for i := 0; float64(i)*step <= top; i++ {
		ticks = append(ticks, float64(i)*step)
	}
	return scale{0, top, from, to, false}, ticks
}

// nice is the least of 1, 2, 2.5, 5 times a power of ten that is not below x.
func nice(x float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(x)))
	for _, f := range []float64{1, 2, 2.5, 5} {
		if f*p >= x*0.9999 {
			return f * p
		}
	}
	return 10 * p
}

// logarithmic holds low and high with a little air; its ticks are 1, 2 and 5
// times powers of ten, or the powers alone where those are many.
func logarithmic(low, high, from, to float64) (scale, []float64) {
	low, high = low*0.85, high*1.15
	s := scale{math.Log2(low), math.Log2(high), from, to, true}
	steps := []float64{1, 2, 5}
	if high/low > 2000 {
		steps = []float64{1}
	}
	var ticks []float64
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for _, f := range steps {
			if v := f * math.Pow(10, e); v >= low && v <= high {
				ticks = append(ticks, v)
			}
		}
	}
	if len(ticks) < 2 { // a narrow band: next to its ends
		ticks = []float64{low * 1.03, high / 1.03}
	}
	return s, ticks
}

// rungScale is log2 of the rungs' values, with half a step of air at both ends.
func rungScale(values []float64, from, to float64) scale {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		low, high = math.Min(low, log2(v)), math.Max(high, log2(v))
	}
	air := 0.5
	if n := float64(len(values)); n > 1 && high > low {
		air = (high - low) / (n - 1) / 2
	}
	return scale{low - air, high + air, from, to, true}
}
