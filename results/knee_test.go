package results

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// onePass is a curve of one pass. Where latencies are not given they double from
// rung to rung, as they do where throughput is flat.
func onePass(load, x []float64, p95 ...float64) curve {
	if p95 == nil {
		for i := range load {
			p95 = append(p95, math.Pow(2, float64(i)))
		}
	}
	return curve{load: load, x: [][]float64{x}, p95: [][]float64{p95}}
}

func doubling(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = math.Pow(2, float64(i))
	}
	return out
}

// Each table is worked by hand: the increments stand beside it.
func TestHalfIncrementByHand(t *testing.T) {
	for name, c := range map[string]struct {
		c         curve
		want      string
		answer    Answer
		irregular []float64
	}{
		// 100, 180, 20: at 8 it is below half of 180.
		"bends at 4": {onePass(doubling(4), []float64{100, 200, 380, 400}), "4", Found, nil},
		// 100, 200, 400: each doubles the one before.
		"straight": {onePass(doubling(4), []float64{100, 200, 400, 800}), "at least 8", NotReached, nil},
		// 100, 60, 36: above half of the one before each time, and above 5 % of 200 and 260.
		"bends slowly": {onePass(doubling(4), []float64{100, 200, 260, 296}), "at least 8", NotReached, nil},
		// 4: below 5 % of 100, which alone applies to the first increment.
		"flat from the start": {onePass(doubling(3), []float64{100, 104, 106}), "1", AtOrBelowFirst, nil},
		// 6 is above 5 % of 100, and has none before it; then 2 is below half of 6.
		"first increment small": {onePass(doubling(3), []float64{100, 106, 108}), "2", Found, nil},
		// 100, 10, 390, 20: the dip at 4 is made good at 8, where ln(600/200)/ln(8/2) = 0.79; at 16 it bends.
		"dip and recovery": {onePass(doubling(5), []float64{100, 200, 210, 600, 620}), "8", Found, []float64{4}},
		// 100, 10, 90, ...: 300 at 8 is ln(300/200)/ln(8/2) = 0.29 over 200: not made good.
		"dip without recovery": {onePass(doubling(4), []float64{100, 200, 210, 300}), "2", Found, nil},
		// 100, -50: throughput falls.
		"falls": {onePass(doubling(3), []float64{100, 200, 150}), "2", Found, nil},
		// Flat from 2 on, and so is latency: no closed loop does that by itself.
		"latency flat too": {onePass(doubling(3), []float64{100, 200, 201}, 1, 1, 1.05), "inconsistent", Inconsistent, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := halfIncrement(defaultKnee(""), c.c)
			var irregular []float64
			for _, i := range p.irregular {
				irregular = append(irregular, c.c.load[i])
			}
			if got := p.name(c.c); got != c.want || p.answer != c.answer {
				t.Errorf("answer %s (%s), want %s (%s)", got, p.answer, c.want, c.answer)
			}
			if d := cmp.Diff(c.irregular, irregular); d != "" {
				t.Errorf("irregular (-want +got):\n%s", d)
			}
		})
	}
}

// 100, 180, 70 with 40 in doubt: half of 180 is 90, and 90 - 70 = 20 is within two
// standard errors; with 2 in doubt it is not.
func TestHalfIncrementHeedsTheSpread(t *testing.T) {
	at := func(spread float64) curve {
		c := onePass(doubling(4), []float64{100, 200, 380, 450})
		for _, x := range c.x[0] {
			c.rounds = append(c.rounds, []float64{x - spread, x, x + spread, x - spread, x, x + spread})
		}
		return c
	}
	k := defaultKnee("")
	if p := halfIncrement(k, at(40)); p.answer != NotReached {
		t.Errorf("with a spread of 40: %s, want not reached", p.answer)
	}
	if p := halfIncrement(k, at(2)); p.answer != Found || p.best != 2 {
		t.Errorf("with a spread of 2: %s at %d, want the third rung", p.answer, p.best)
	}
}

// Over passes the increment is taken in each, so that a pass that ran at half
// speed throughout changes no answer.
func TestSlowPassMovesNothing(t *testing.T) {
	x := []float64{100, 200, 380, 400, 405}
	c := curve{load: doubling(5)}
	for _, speed := range []float64{1, 0.5, 1.01, 0.99, 1} {
		row := make([]float64, len(x))
		for i := range x {
			row[i] = speed * x[i]
		}
		c.x, c.p95 = append(c.x, row), append(c.p95, []float64{1, 2, 4, 8, 16})
	}
	for name, r := range map[string]rule{"power": power, "half_increment": halfIncrement} {
		if p := r(defaultKnee(""), c); p.name(c) != "4" {
			t.Errorf("%s: best rung %s, want 4", name, p.name(c))
		}
	}
}

// A published ladder of five points, four of which still climb.
func TestCase51(t *testing.T) {
	c := onePass([]float64{4, 8, 16, 32}, []float64{150.7, 273.4, 479.1, 780.9}, 26.8, 29.5, 33.8, 41.6)
	if p := power(defaultKnee(""), c); p.answer != NotReached || p.name(c) != "at least 32" {
		t.Errorf("%s %s, want not reached, at least 32", p.answer, p.name(c))
	}
}

// KV memory runs out without an error: throughput falls from 32 to 64.
func TestCase57(t *testing.T) {
	c := onePass([]float64{4, 8, 16, 32, 64}, []float64{150.7, 273.4, 479.1, 780.9, 552.9}, 26.8, 29.5, 33.8, 41.6, 117.8)
	if p := power(defaultKnee(""), c); p.answer != Found || p.name(c) != "32" {
		t.Errorf("%s %s, want 32", p.answer, p.name(c))
	}
}

// Throughput falls from the first rung on: the ladder began too high.
func TestCase59(t *testing.T) {
	c := onePass([]float64{64, 128, 256}, []float64{7559, 5101, 4812})
	for name, r := range map[string]rule{"power": power, "half_increment": halfIncrement} {
		p := r(defaultKnee(""), c)
		var k Knee
		k.take(p, c)
		if k.Reason != "at or below the first rung, 64: extend the ladder downward" {
			t.Errorf("%s: %q", name, k.Reason)
		}
	}
}

func TestPowerInconsistent(t *testing.T) {
	c := onePass(doubling(4), []float64{100, 200, 205, 206}, 1, 1, 1.02, 1.03)
	if p := power(defaultKnee(""), c); p.answer != Inconsistent {
		t.Errorf("%s, want inconsistent: twice the load at once, no more throughput and no more latency", p.answer)
	}
}

func TestMultisetsAreAllDraws(t *testing.T) {
	for n, many := range map[int]int{1: 1, 2: 3, 3: 10, 5: 126, 7: 1716} {
		sum, seen := 0.0, 0
		multisets(n, func(weight float64, passes []int) {
			sum += weight
			seen++
			if len(passes) != n {
				t.Fatalf("%d passes, want %d", len(passes), n)
			}
		})
		if seen != many || math.Abs(sum-1) > 1e-12 {
			t.Errorf("%d passes: %d multisets of weight %g, want %d of weight 1", n, seen, sum, many)
		}
	}
}

func TestConfidenceWords(t *testing.T) {
	for _, c := range []struct {
		passes  int
		answers []Weighted
		want    string
	}{
		{1, nil, "drift unseen: 1 pass of the ladder, and a share needs 3"},
		{2, nil, "drift unseen: 2 passes of the ladder, and a share needs 3"},
		{3, []Weighted{{"16", 0.78}, {"32", 0.22}}, "16 in 78 % of the resamples of 3 passes"},
		{5, []Weighted{{"16", 1}}, "16, firm (100 %)"},
		{5, []Weighted{{"16", 0.9996}, {"32", 0.0004}}, "16, firm (99 %, otherwise 32)"},
		{5, []Weighted{{"16", 0.81}, {"32", 0.19}}, "probably 16 (81 %); set {16, 32}"},
		{5, []Weighted{{"16", 0.6}, {"32", 0.4}}, "between 16 and 32, not settled (60 % for 16): add passes or a rung between them"},
		{5, []Weighted{{"32", 0.55}, {"16", 0.45}}, "not settled (45 % for 16); set {32, 16}"},
	} {
		k := Knee{Passes: c.passes}
		k.judge(c.answers, "16")
		if k.Sure != c.want {
			t.Errorf("%d passes, %v: %q, want %q", c.passes, c.answers, k.Sure, c.want)
		}
	}
}

func TestManyPassesAreDrawn(t *testing.T) {
	c := curve{load: doubling(4)}
	for range allPasses + 2 {
		c.x, c.p95 = append(c.x, []float64{100, 200, 210, 212}), append(c.p95, []float64{1, 1.1, 2.2, 4.4})
	}
	got := resample(power, defaultKnee(""), c)
	if len(got) != 1 || got[0].Answer != "2" || math.Abs(got[0].Share-1) > 1e-9 {
		t.Errorf("resamples %v, want 2 in all", got)
	}
}

// Whatever the figures, a rule gives an answer inside the ladder.
func TestRulesStayInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(leastRungs, 9).Draw(t, "rungs")
		c := curve{load: doubling(n)}
		for range rapid.IntRange(1, 4).Draw(t, "passes") {
			c.x = append(c.x, rapid.SliceOfN(rapid.Float64Range(0, 1e6), n, n).Draw(t, "x"))
			c.p95 = append(c.p95, rapid.SliceOfN(rapid.Float64Range(1e-6, 1e3), n, n).Draw(t, "p95"))
		}
		for _, r := range []rule{power, halfIncrement} {
			p := r(defaultKnee(""), c)
			if p.best < 0 || p.best >= n || p.answer == Found && p.best == n-1 {
				t.Fatalf("best %d of %d, %s", p.best, n, p.answer)
			}
			var k Knee
			k.take(p, c)
			if k.Reason == "" {
				t.Fatal("no reason")
			}
		}
	})
}

// Each table is worked by hand: the relative gains stand beside it. P95 of single
// requests is 1.
func TestGainAndP95ByHand(t *testing.T) {
	for name, c := range map[string]struct {
		c         curve
		want      string
		answer    Answer
		irregular []float64
	}{
		// Gains 0.9, 0.8, 0.05: at 8 below half of 0.8, and P95 is 3.
		"bends at 4": {onePass(doubling(4), []float64{100, 190, 342, 359.1}, 1, 1.1, 1.3, 3), "4", Found, nil},
		// The same, but P95 at 8 is 1.4, within 1.5: the gain is 5 %, not below flat.
		"no latency": {onePass(doubling(4), []float64{100, 190, 342, 360}, 1, 1.1, 1.3, 1.4), "at least 8", NotReached, nil},
		// The first gain of 0.4 is below half of N2/N1 - 1 = 1, with a P95 of 1.8.
		"at once": {onePass(doubling(4), []float64{100, 140, 150, 155}, 1, 1.8, 3, 6), "1", AtOrBelowFirst, nil},
		// 0.4 falls below half of 1, but P95 is 1.2; then 0.19 is below half of 0.4, at 1.9.
		"latency follows": {onePass(doubling(4), []float64{100, 140, 166, 167}, 1, 1.2, 1.9, 4), "2", Found, nil},
		// 1, 0.05, 1.9: the dip at 4 is made good at 8 and 16.
		"a dip": {onePass(doubling(5), []float64{100, 200, 210, 610, 1200}, 1, 1.2, 1.8, 1.9, 2), "at least 16", NotReached, []float64{4}},
		// 1, 0.02, 0.01: flat while P95 stays: no server does that.
		"flat and quick": {onePass(doubling(4), []float64{100, 200, 204, 206}, 1, 1, 1, 1), string(Inconsistent), Inconsistent, nil},
	} {
		c.c.base = 1
		p := gainAndP95(defaultKnee("gain_and_p95"), c.c)
		var irregular []float64
		for _, i := range p.irregular {
			irregular = append(irregular, c.c.load[i])
		}
		if p.name(c.c) != c.want || p.answer != c.answer || !slices.Equal(irregular, c.irregular) {
			t.Errorf("%s: %s %s, irregular %v; want %s %s %v", name, p.answer, p.name(c.c), irregular, c.answer, c.want, c.irregular)
		}
	}
}
