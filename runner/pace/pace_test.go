package pace

import (
	"math"
	"slices"
	"testing"
	"time"
)

func offsets(t *testing.T, arrivals string, rate float64, seed byte, length time.Duration) []time.Duration {
	t.Helper()
	p, err := New(arrivals, rate, [32]byte{seed})
	if err != nil {
		t.Fatal(err)
	}
	return p.Until(length, 1<<20)
}

func TestConstant(t *testing.T) {
	got := offsets(t, "constant", 3, 0, 2*time.Second)
	if len(got) != 6 || got[0] != 0 || got[3] != time.Second {
		t.Errorf("%v", got)
	}
	if n := len(offsets(t, "constant", 1000, 0, time.Hour)); n != 1<<20 {
		t.Errorf("%d offsets, the bound is %d", n, 1<<20)
	}
	// The millionth is where it belongs: no error adds up.
	p, _ := New("constant", 7, [32]byte{})
	for range 7_000_000 {
		p.Next()
	}
	if at := p.Next(); at != 1_000_000*time.Second {
		t.Errorf("request 7,000,000 is due at %s", at)
	}
}

// The gaps of a Poisson process have the mean 1/rate, a standard deviation of as
// much, and no memory; the seed alone decides them.
func TestPoisson(t *testing.T) {
	got := offsets(t, "poisson", 50, 1, 2000*time.Second)
	if n := float64(len(got)); math.Abs(n-100_000) > 4*math.Sqrt(100_000) {
		t.Errorf("%g arrivals, expected are 100,000", n)
	}
	var sum, squares, product float64
	gaps := make([]float64, 0, len(got)-1)
	for i := 1; i < len(got); i++ {
		gaps = append(gaps, (got[i] - got[i-1]).Seconds())
	}
	for _, g := range gaps {
		sum += g
	}
	mean := sum / float64(len(gaps))
	for i, g := range gaps {
		squares += (g - mean) * (g - mean)
		if i > 0 {
			product += (g - mean) * (gaps[i-1] - mean)
		}
	}
	if cv := math.Sqrt(squares/float64(len(gaps))) / mean; math.Abs(cv-1) > 0.02 {
		t.Errorf("coefficient of variation %g", cv)
	}
	if r := product / squares; math.Abs(r) > 0.02 {
		t.Errorf("gaps remember: correlation %g", r)
	}
	if !slices.IsSorted(got) || !slices.Equal(got, offsets(t, "poisson", 50, 1, 2000*time.Second)) || slices.Equal(got[:5], offsets(t, "poisson", 50, 2, time.Second)[:5]) {
		t.Error("not a function of the seed")
	}
}

func TestUnknownArrivals(t *testing.T) {
	if _, err := New("bursty", 1, [32]byte{}); err == nil {
		t.Error("taken")
	}
}
