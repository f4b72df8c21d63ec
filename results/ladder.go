package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"rung/sinks/record"
	"rung/spec/plan"
)

// walked is one ladder under analysis: the plan's side, the rows of each of its
// rungs, and what is being said of it.
type walked struct {
	plan  plan.Ladder
	rows  []visits // by the rung's index, without warm-ups
	warm  []visits // the warm-ups
	unit  unit
	edge  int // index of the lowest rung that fails; len(rungs) where none does
	rules plan.Analysis
	slo   *objectives // nil where none is declared
	facts []facts     // of the rungs that were walked, for their diagnoses

	generates bool
	out       *Ladder
}

// setting is what a limit on an axis configures.
func setting(a plan.Axis) string {
	switch a {
	case plan.AxisBatch:
		return "max_batch_size"
	case plan.AxisConcurrency:
		return "max_concurrency"
	case plan.AxisOutputTokens:
		return "max_output_tokens"
	case plan.AxisRate:
		return "" // it is what a server is sent, and no setting of it
	default:
		return "max_input_tokens"
	}
}

// newWalked sorts a ladder's attempts by rung.
func newWalked(l plan.Ladder, r *Run, all []attempt, rules plan.Analysis) *walked {
	w := &walked{plan: l, rows: make([]visits, len(l.Rungs)), warm: make([]visits, len(l.Rungs)), edge: len(l.Rungs), rules: rules}
	var mine, every visits
	for _, a := range all {
		if a.Ladder != l.Name || a.Rung < 0 || a.Rung >= len(w.rows) {
			continue
		}
		if a.Phase == record.Retest || a.Phase == checkWarmup {
			continue // other text at the limit says nothing of the ladder's own
		}
		every = append(every, a)
		if a.Phase == record.Warmup {
			w.warm[a.Rung] = append(w.warm[a.Rung], a)
			continue
		}
		w.rows[a.Rung] = append(w.rows[a.Rung], a)
		mine = append(mine, a)
	}
	w.unit = unitOf(r.Plan.Target.API, l.Axis, mine)
	w.out = &Ladder{
		Name: l.Name, Axis: l.Axis, Setting: setting(l.Axis), Prompt: l.Prompt, Arrivals: l.Arrivals,
		Unit: w.unit.name, UnitReason: w.unit.reason, PassesAsked: len(l.Passes),
		NotWalked: []float64{}, Rungs: []Rung{}, Findings: []string{},
		Query: query(r.Dir, l.Name),
	}
	w.slo, w.generates = objectivesOf(r.Plan.SLO), r.Plan.Target.API.Generates()
	w.out.NotRising = notRising(l.Rungs)
	w.out.Ended = ended(l.Name, r.Events)
	w.out.Warmups, w.out.Said, w.out.Met, w.out.Timeouts = w.warmups(), said(every), met(every), timeouts(every)
	return w
}

// notRising lists the values of rungs of which one does not ask more than the one
// before; "" where all do.
func notRising(rungs []plan.Rung) string {
	const most = 12
	var out []string
	fell, before := false, 0.0
	for i, r := range rungs {
		fell = fell || r.Value <= before
		before = r.Value
		switch {
		case i < most:
			out = append(out, fmt.Sprintf("%g", r.Value))
		case i == most:
			out = append(out, "…")
		}
	}
	if !fell {
		return ""
	}
	return strings.Join(out, ", ")
}

func ended(ladder string, events []record.Event) string {
	last, reason := math.Inf(-1), "the run ended before the ladder did"
	for _, e := range events { // a run that was resumed has several
		if e.Kind == record.LadderEnd && e.Ladder == ladder && e.TS >= last {
			last, reason = e.TS, e.Reason
		}
	}
	return reason
}

// measure fills in the rungs that were walked, but for what needs other rungs.
// template is the number of tokens that the server's chat template adds.
func (w *walked) measure(template int) {
	var walked []int
	for i, rung := range w.plan.Rungs {
		if len(w.rows[i]) == 0 {
			w.out.NotWalked = append(w.out.NotWalked, rung.Value)
			continue
		}
		walked = append(walked, i)
	}
	w.out.Rungs = make([]Rung, len(walked))
	each(len(walked), func(i int) { w.out.Rungs[i] = w.rung(walked[i]) })
	w.increments()
	w.out.Cache = w.cache(template)
}

func (w *walked) rung(i int) Rung {
	measured, counted := w.rows[i].in(record.Measure), w.rows[i].counted()
	tally := measured.tally()
	r := Rung{
		Index: i, Value: w.plan.Rungs[i].Value, Shape: w.plan.Rungs[i].Shape,
		Sent: tally.Total, Failures: failures(tally), Failed: w.plan.Stop.Edge(tally),
		Latency: summarise(counted.latencies()), Output: counted.output(),
	}
	r.FailureRate = failureRate(tally.Failures, tally.Total)
	r.Stream, r.Goodput = counted.stream(), w.goodput(counted, i)
	if w.generates {
		r.Answers = counted.answers()
	}
	r.FailedRefused = tally.Failures - counted.tally().Failures
	r.Refused, r.LostRounds = measured.refusals()
	r.ClientLimited = r.LostRounds > 0 && len(counted) < len(measured) && limitedByClient(r.Refused)
	f := w.flow(counted, i, w.unit.each)
	r.Throughput, r.MeanInFlight = f.rate(), f.inFlight()
	switch {
	case len(counted) == 0:
		r.ThroughputReason = noRound
	case r.Latency == nil:
		r.ThroughputReason = "no success"
	case f.Span <= 0:
		r.ThroughputReason = "no steady window: fewer requests than are in flight"
	case r.Throughput == nil && w.unit.name == tokensPerS && r.Output != nil && r.Output.Max <= 0:
		r.ThroughputReason = noOutput
	case r.Throughput == nil:
		r.ThroughputReason = "no success ended in the steady window"
	}
	if w.plan.Axis == plan.AxisRate {
		r.Open = counted.openLoop(w.plan.Rungs[i].Duration.Seconds())
	}
	for _, p := range w.plan.Passes {
		inPass := counted.pass(p.Index)
		r.ThroughputByPass = append(r.ThroughputByPass, w.flow(inPass, i, w.unit.each).rate())
		var p95 *float64
		if l := inPass.latencies(); len(l) > 0 {
			p95 = new(record.QuantileOf(l, 0.95))
		}
		r.P95ByPass = append(r.P95ByPass, p95)
	}
	if r.Latency != nil && w.plan.Axis == plan.AxisBatch && r.Latency.MedianS > 0 {
		r.InputsPerP50 = finite(float64(r.Shape.Batch) / r.Latency.MedianS)
	}
	return r
}

// Why a rung has no throughput.
const (
	noRound  = "no round counts"
	noOutput = "its answers report 0 output tokens"
)

// refused says that each round of a rung was refused, so that nothing is known
// of it.
func (r *Rung) refused() bool { return r.ThroughputReason == noRound && len(r.Refused) > 0 }

// limitedByClient says that the client's own limits are the first reason for
// which rounds were refused.
func limitedByClient(refused []Refusal) bool {
	return len(refused) > 0 && strings.HasPrefix(refused[0].Reason, string(record.ClientLimited))
}

// increments compares each rung with the one walked below it. A rung that fails
// is left out: what it did beside its failures is no throughput to plan with. Along
// lengths and rates a rung is other work than the one below.
func (w *walked) increments() {
	if !w.plan.Axis.HasKnee() {
		return
	}
	var before *Increment
	for i := 1; i < len(w.out.Rungs); i++ {
		below, here := w.out.Rungs[i-1].Throughput, w.out.Rungs[i].Throughput
		if below == nil || here == nil || *below <= 0 || w.out.Rungs[i].Failed != "" || w.out.Rungs[i-1].Failed != "" {
			before = nil
			continue
		}
		inc := &Increment{Absolute: *here - *below, Relative: *here / *below - 1}
		if before != nil && before.Absolute > 0 {
			inc.OverBefore = new(inc.Absolute / before.Absolute)
		}
		w.out.Rungs[i].Increment, before = inc, inc
	}
}

// usable are the rungs that a knee may rest on: below the edge, with rounds that
// count and that the client did not bound.
func (w *walked) usable() (rungs []*Rung, left []string) {
	values := map[string][]string{} // by the reason
	var order []string
	leave := func(r *Rung, why string) {
		if values[why] == nil {
			order = append(order, why)
		}
		values[why] = append(values[why], fmt.Sprintf("%g", r.Value))
	}
	for i := range w.out.Rungs {
		r := &w.out.Rungs[i]
		switch {
		case r.Index >= w.edge:
		case r.ClientLimited:
			leave(r, "client_limited, the client was measured")
		case r.Throughput == nil || r.Latency == nil:
			leave(r, cmp.Or(r.ThroughputReason, "no success"))
		default:
			rungs = append(rungs, r)
		}
	}
	for _, why := range order {
		rung := "rung "
		if len(values[why]) > 1 {
			rung = "rungs "
		}
		left = append(left, rung+strings.Join(values[why], ", ")+" left out: "+why)
	}
	return rungs, left
}

// curve is what the rule looks at: the passes in which every usable rung was
// measured. Where no pass is whole, all are taken together as one.
func (w *walked) curve(rungs []*Rung) (c curve, whole int) {
	switch e := w.out.Edge; {
	case e == nil:
	case e.Kind == EdgeSlow:
		c.cut = "it became too slow"
	default:
		c.cut = "failures began"
	}
	for _, r := range rungs {
		c.load = append(c.load, r.Value)
		c.rounds = append(c.rounds, w.rates(w.rows[r.Index].counted(), r.Index))
	}
	for p := range w.plan.Passes {
		var xs, p95 []float64
		for _, r := range rungs {
			if x, l := r.ThroughputByPass[p], r.P95ByPass[p]; x != nil && l != nil {
				xs, p95 = append(xs, *x), append(p95, *l)
			}
		}
		if len(rungs) > 0 && len(xs) == len(rungs) {
			c.x, c.p95 = append(c.x, xs), append(c.p95, p95)
		}
	}
	whole = len(c.x)
	if whole == 0 && len(rungs) > 0 {
		var xs, p95 []float64
		for _, r := range rungs {
			xs, p95 = append(xs, *r.Throughput), append(p95, r.Latency.P95S)
		}
		c.x, c.p95 = [][]float64{xs}, [][]float64{p95}
	}
	return c, whole
}

// missing says what of the plan was not measured, though the ladder did not end
// at an edge below it.
func (w *walked) missing() []string {
	var out []string
	for _, p := range w.plan.Passes {
		var values []string
		for i := range min(w.edge, len(w.rows)) {
			if len(w.rows[i].in(record.Measure).pass(p.Index)) == 0 {
				values = append(values, fmt.Sprintf("%g", w.plan.Rungs[i].Value))
			}
		}
		if len(values) > 0 {
			out = append(out, fmt.Sprintf("pass %d: no measurement at %s", p.Index+1, strings.Join(values, ", ")))
		}
	}
	return slices.Clip(out)
}
