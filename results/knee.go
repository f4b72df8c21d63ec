package results

import (
	"fmt"
	"math"
	"slices"

	"rung/spec/plan"
)

// Answer says what a knee rule found.
type Answer string

// The answers.
const (
	Found          Answer = "found"
	AtOrBelowFirst Answer = "at_or_below_first" // the first rung is the best: the ladder began too high to show more
	NotReached     Answer = "not_reached"       // throughput still grows at the last usable rung
	Inconsistent   Answer = "inconsistent"      // throughput flattened and latency did not rise
	NoAnswer       Answer = "none"              // Reason says why
)

// Knee is the verdict of the declared rule on one ladder.
type Knee struct {
	Rule   string   `json:"rule"`
	Answer Answer   `json:"answer"`
	Best   *float64 `json:"best,omitempty"`     // the last rung that pays
	Knee   *float64 `json:"knee,omitempty"`     // the first that no longer does
	Least  *float64 `json:"at_least,omitempty"` // not reached: the last usable rung
	Reason string   `json:"reason"`

	Irregular []float64 `json:"irregular,omitempty"` // dips that a later rung made good
	Notes     []string  `json:"notes,omitempty"`

	Passes int        `json:"passes"`               // that the rule looked at
	Share  *float64   `json:"share,omitempty"`      // weight of the resamples of passes that answer the same; nil below three passes
	Others []Weighted `json:"others,omitempty"`     // what the other resamples answer, the weightiest first
	Set    []string   `json:"set,omitempty"`        // the fewest answers that hold 90 % of the weight
	Sure   string     `json:"confidence,omitempty"` // in words

	Beside *Beside `json:"beside,omitempty"` // as explanation, and no verdict
}

// Weighted is an answer and the share of the resamples that give it.
type Weighted struct {
	Answer string  `json:"answer"`
	Share  float64 `json:"share"`
}

// curve is what a knee rule looks at: the usable rungs of a ladder, in order.
type curve struct {
	load []float64   // the rungs' values
	x    [][]float64 // throughput, a row a pass
	p95  [][]float64 // seconds, a row a pass
	// rounds holds the throughput of each round at each rung. With one pass the
	// spread is taken from them.
	rounds [][]float64
	cut    string // what rungs above the last were cut for, in words; "" where none was

	base   float64 // P95 of single requests, seconds; 0 where it is not known
	baseOf string  // whose that is
}

// pick is a rule's answer in terms of indices into the curve.
type pick struct {
	answer    Answer
	best      int // of Found and AtOrBelowFirst; of NotReached the last
	irregular []int
}

// name is the answer in a word or a number, for counting resamples.
func (p pick) name(c curve) string {
	switch p.answer {
	case Found, AtOrBelowFirst:
		return fmt.Sprintf("%g", c.load[p.best])
	case NotReached:
		return fmt.Sprintf("at least %g", c.load[p.best])
	default:
		return string(p.answer)
	}
}

// rule is a knee rule: a pure function of a curve of three rungs or more.
type rule func(plan.Knee, curve) pick

func ruleNamed(name string) (rule, bool) {
	switch name {
	case "power":
		return power, true
	case "half_increment":
		return halfIncrement, true
	case "gain_and_p95":
		return gainAndP95, true
	default:
		return nil, false
	}
}

// power is Kleinrock's power, throughput over delay, X/R = X²/N in a closed loop
// ("Power and Deterministic Rules of Thumb for Probabilistic Problems in Computer
// Communications", 1979). Its maximum is where a doubling of load brings less
// than a factor of 2^elasticity in throughput. Passes are centred first, so that
// one that ran slow as a whole moves nothing. A lower rung within tie of the
// maximum is as good and has less latency.
func power(k plan.Knee, c curve) pick {
	score := make([]float64, len(c.load))
	centred := make([][]float64, len(c.x))
	for p, xs := range c.x {
		logs := make([]float64, len(xs))
		for i, x := range xs {
			logs[i] = math.Log(math.Max(x, math.SmallestNonzeroFloat64))
		}
		m := median(logs)
		for i := range logs {
			logs[i] -= m
		}
		centred[p] = logs
	}
	for i, n := range c.load {
		score[i] = median(column(centred, i))/k.Elasticity - math.Log(n)
	}
	top := 0
	for i, s := range score {
		if s > score[top] {
			top = i
		}
	}
	if top == len(score)-1 {
		return pick{answer: NotReached, best: top}
	}
	if !c.rises(top, k.P95Rise) {
		return pick{answer: Inconsistent, best: top}
	}
	best := slices.IndexFunc(score, func(s float64) bool { return s >= score[top]+math.Log1p(-k.Tie) })
	if best < 0 { // a tie that is none
		best = top
	}
	return found(best)
}

func found(best int) pick {
	if best == 0 {
		return pick{answer: AtOrBelowFirst}
	}
	return pick{answer: Found, best: best}
}

// rises says that P95 of the rung above i is more than rise times that of i, as
// it must be where more load no longer brings more throughput.
func (c curve) rises(i int, rise float64) bool {
	return median(column(c.p95, i+1)) > rise*median(column(c.p95, i))
}

// column is the values of one rung over the passes.
func column(rows [][]float64, i int) []float64 {
	out := make([]float64, len(rows))
	for p := range rows {
		out[p] = rows[p][i]
	}
	return out
}

// confirmed is the elasticity that a later rung must show over the best one to
// make a dip between them a mere irregularity.
const confirmed = 0.5

// halfIncrement walks up as one does by hand: the knee is the first rung whose
// increment is below factor times the increment before it, by more than two
// standard errors of both, or below flat of the throughput before it. The first
// increment has none before it, so that only flat applies. A dip that a later
// rung makes good is named, and the walk goes on.
func halfIncrement(k plan.Knee, c curve) pick {
	var irregular []int
	last := len(c.load) - 1
	for i := 1; i <= last; i++ {
		if !c.flattens(k, i) {
			continue
		}
		if c.madeGood(i - 1) {
			irregular = append(irregular, i)
			continue
		}
		if !c.rises(i-1, k.P95Rise) {
			return pick{answer: Inconsistent, best: i - 1, irregular: irregular}
		}
		p := found(i - 1)
		p.irregular = irregular
		return p
	}
	return pick{answer: NotReached, best: last, irregular: irregular}
}

// flattens says that the increment to rung i is too small to pay.
func (c curve) flattens(k plan.Knee, i int) bool {
	d, se := c.increment(i)
	if d < k.Flat*c.level(i-1) {
		return true
	}
	if i < 2 {
		return false
	}
	before, seBefore := c.increment(i - 1)
	return k.Factor*before-d > 2*math.Hypot(se, k.Factor*seBefore)
}

// gainAndP95 walks up: the knee is the first rung whose relative gain is below gain
// times the gain before it, by more than two standard errors of both, or below flat,
// while its P95 is over p95_over_baseline times that of single requests. Before the
// first gain stands N₂/N₁ - 1, what a server without any limit would give. A dip that
// a later rung makes good is named, and the walk goes on.
func gainAndP95(k plan.Knee, c curve) pick {
	var irregular []int
	last, flattened := len(c.load)-1, -1
	for i := 1; i <= last; i++ {
		if !c.gainFalls(k, i) {
			continue
		}
		if c.madeGood(i - 1) {
			irregular = append(irregular, i)
			continue
		}
		if median(column(c.p95, i)) > k.P95OverBaseline*c.base {
			p := found(i - 1)
			p.irregular = irregular
			return p
		}
		if d, _ := c.gain(i); flattened < 0 && d < k.Flat && !c.rises(i-1, k.P95Rise) {
			flattened = i - 1
		}
	}
	if flattened >= 0 {
		return pick{answer: Inconsistent, best: flattened, irregular: irregular}
	}
	return pick{answer: NotReached, best: last, irregular: irregular}
}

// gainFalls says that the relative gain of rung i is too small.
func (c curve) gainFalls(k plan.Knee, i int) bool {
	d, se := c.gain(i)
	if d < k.Flat {
		return true
	}
	before, seBefore := c.load[1]/c.load[0]-1, 0.0
	if i > 1 {
		before, seBefore = c.gain(i - 1)
	}
	return k.Gain*before-d > 2*math.Hypot(se, k.Gain*seBefore)
}

// gain is what rung i brings over the rung below, as a share of that, and its standard
// error: over passes or, where there is one, from the rounds of both rungs.
func (c curve) gain(i int) (g, se float64) {
	if len(c.x) == 1 {
		below := c.x[0][i-1]
		g = c.x[0][i]/below - 1
		if i < len(c.rounds) {
			se = (1 + g) * math.Hypot(standardError(c.rounds[i])/c.x[0][i], standardError(c.rounds[i-1])/below)
		}
		return g, se
	}
	each := make([]float64, len(c.x))
	for p, xs := range c.x {
		each[p] = xs[i]/xs[i-1] - 1
	}
	return mean(each), standardError(each)
}

// madeGood says that some rung above b has gained on it after all.
func (c curve) madeGood(b int) bool {
	for j := b + 1; j < len(c.load); j++ {
		if math.Log(c.level(j)/c.level(b))/math.Log(c.load[j]/c.load[b]) >= confirmed {
			return true
		}
	}
	return false
}

// level is the throughput of a rung, the mean over the passes.
func (c curve) level(i int) float64 { return mean(column(c.x, i)) }

// increment is what rung i brings over the rung below, and its standard error:
// over passes, in each of which the increment is taken, so that a slow pass is
// slow in both; over the two rungs' rounds where there is one pass; 0 where there
// is one round too.
func (c curve) increment(i int) (d, se float64) {
	if len(c.x) == 1 {
		d = c.x[0][i] - c.x[0][i-1]
		if i < len(c.rounds) {
			se = math.Hypot(standardError(c.rounds[i]), standardError(c.rounds[i-1]))
		}
		return d, se
	}
	each := make([]float64, len(c.x))
	for p, xs := range c.x {
		each[p] = xs[i] - xs[i-1]
	}
	return mean(each), standardError(each)
}
