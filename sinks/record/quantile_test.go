package record

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// What is selected is what sorting would find, of whatever values.
func TestQuantileOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := rapid.Float64Range(-10, 10)
		if rapid.Bool().Draw(t, "ties") {
			one = rapid.Map(rapid.IntRange(0, 3), func(i int) float64 { return float64(i) })
		}
		values := rapid.SliceOfN(one, 1, 2000).Draw(t, "values")
		switch rapid.IntRange(0, 3).Draw(t, "order") {
		case 0:
			slices.Sort(values)
		case 1:
			slices.Sort(values)
			slices.Reverse(values)
		case 2:
			values = append(values, math.Inf(1), math.Inf(-1), math.NaN())
		default:
		}
		sorted := slices.Sorted(slices.Values(values))
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		want := Quantile(sorted, q)
		if got := QuantileOf(values, q); got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Fatalf("%g, want %g", got, want)
		}
		slices.Sort(values)
		if !slices.EqualFunc(values, sorted, func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }) {
			t.Fatal("values were lost")
		}
	})
	if !math.IsNaN(QuantileOf(nil, 0.5)) {
		t.Error("a quantile of nothing")
	}
}

// Values made to be split badly take no longer than sorting them.
func TestQuantileOfBadOrder(t *testing.T) {
	organ := make([]float64, 200_001) // rises to its middle and falls
	for i := range organ {
		organ[i] = float64(min(i, len(organ)-i))
	}
	want := Quantile(slices.Sorted(slices.Values(organ)), 0.5)
	if got := QuantileOf(organ, 0.5); got != want {
		t.Errorf("%g, want %g", got, want)
	}
}
