package results

import (
	"math"
	"testing"
)

// The law that a curve was made by is found again, with the load at which it is greatest.
func TestUSLIsFoundAgain(t *testing.T) {
	loads := []float64{1, 2, 4, 8, 16, 32, 64}
	for _, want := range []USL{{Lambda: 100, Sigma: 0.05, Kappa: 0.001}, {Lambda: 20, Sigma: 0.2}, {Lambda: 7, Kappa: 0.0004}, {Lambda: 3}} {
		x := make([]float64, len(loads))
		for i, n := range loads {
			x[i] = want.at(n)
		}
		got := fitUSL(loads, x)
		if got == nil || math.Abs(got.Lambda/want.Lambda-1) > 1e-6 || math.Abs(got.Sigma-want.Sigma) > 1e-6 || math.Abs(got.Kappa-want.Kappa) > 1e-8 || got.Error > 1e-6 {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	u := fitUSL(loads, []float64{95.2, 180, 330, 540, 740, 720, 520})
	if u == nil || u.PeakAt == nil || *u.PeakAt < 15 || *u.PeakAt > 30 {
		t.Errorf("%+v", u)
	}
	if fitUSL(loads[:3], []float64{1, 2, 3}) != nil || fitUSL(loads, []float64{1, 0, 0, 0, 0, 0, 0}) != nil {
		t.Error("a law through too few points, or none")
	}
}
