package spec

import (
	"cmp"
	"slices"

	"rung/spec/plan"
)

// Bounds on the work of one plan.
const (
	maxRequests      = 10_000_000 // of a plan, without those that are run again
	maxRequestTokens = 10_000_000 // of one request: they are made before it is sent
)

// checkFixed: what the axis raises is not fixed beside it, and where a server makes
// the batches itself there is none to ask for.
func (l *loader) checkFixed(f *fields, d ladder, api plan.API) {
	for _, axis := range []plan.Axis{plan.AxisBatch, plan.AxisConcurrency} {
		if d.Axis == axis && f.given(string(axis)) {
			l.errorAt(f.attrs[string(axis)].NameRange, sumFixedTwice, "The ladder raises %s, so that it can't be fixed too. Its values are rungs.", axis)
		}
	}
	instead := "In a chat the server makes the batches; raise concurrency instead."
	if api == plan.OpenAICompletions {
		instead = "A completion is sent for one prompt, and the server makes the batches; raise concurrency instead."
	}
	switch {
	case d.Axis == plan.AxisOutputTokens && api != "" && !api.Generates():
		l.errorAt(f.rng("axis"), sumOutputTokens, "The api %s gives no output tokens to raise.", api)
	case !api.Generates():
	case d.Axis == plan.AxisBatch:
		l.errorAt(f.rng("axis"), sumNoBatch, "%s", instead)
	case d.batch > 1:
		l.errorAt(f.rng("batch"), sumNoBatch, "%s", instead)
	}
}

// checkLength: a length stands in the prompt, or in the rungs, and in one of them
// alone.
func (l *loader) checkLength(f *fields, d ladder, api plan.API) {
	p := d.prompt
	if p.Name == "" {
		return
	}
	for _, n := range p.lengths(api) {
		switch {
		case d.Axis == n.axis && n.tokens > 0:
			l.errorAt(f.head(), sumTokensTwice, "The ladder raises the length, and prompt.%s sets %s on line %d. "+
				"Use a prompt without it.", p.Name, n.attr, n.where.Start.Line)
		case d.Axis != n.axis && n.tokens == 0 && p.sound:
			l.errorAt(f.head(), sumMissingTokens, "prompt.%s (line %d) has no %s, which only a ladder of %s sets.",
				p.Name, p.rng.Start.Line, n.attr, n.axis)
		}
	}
}

// checkLadder looks at the rungs together.
func (l *loader) checkLadder(f *fields, d ladder, values []float64) {
	for i := 1; i < len(values); i++ {
		if values[i] <= values[i-1] {
			l.warnAt(f.rng("rungs"), sumNotRising, "%g comes after %g. A ladder is walked from the least load to the most, and the first rung that fails ends it.",
				values[i], values[i-1])
			break
		}
	}
	if d.duration == 0 {
		l.checkRequests(f, d)
	}
	for _, r := range d.Rungs {
		if r.Shape.Batch*r.Shape.InputTokens > maxRequestTokens {
			l.errorAt(f.rng("rungs"), sumTooMuchWork, "At rung %g one request has %d inputs of %d tokens; a request may have %d tokens.",
				r.Value, r.Shape.Batch, r.Shape.InputTokens, maxRequestTokens)
			break
		}
	}
}

// checkRequests: a closed loop of N fills with its first N requests and drains with
// its last N, and only what is between tells anything.
func (l *loader) checkRequests(f *fields, d ladder) {
	for _, r := range d.Rungs {
		n := r.Shape.InFlight
		if n > 1 && r.Requests < 2*n {
			l.errorAt(f.rng("requests"), sumTooFewRequests, "At rung %g a round has %d requests with %d in flight: it has no steady part. "+
				"There must be at least 2 for each in flight, %d, and 10 for each is better.", r.Value, r.Requests, n, 2*n)
			return
		}
	}
	for _, r := range d.Rungs {
		n := r.Shape.InFlight
		if n > 1 && r.Requests < 5*n {
			l.warnAt(f.rng("requests"), sumFewRequests, "At rung %g a round has %d requests with %d in flight; below %d its start and end weigh much.",
				r.Value, r.Requests, n, 5*n)
			break
		}
	}
	l.checkEven(f, d)
}

// checkEven: where rungs have different numbers of requests for each in flight, the
// start of a round weighs more in the larger. From ten for each on, which is the
// default, it weighs little in all.
func (l *loader) checkEven(f *fields, d ladder) {
	if len(d.Rungs) == 0 {
		return
	}
	order := func(a, b plan.Rung) int { return cmp.Compare(perFlight(a), perFlight(b)) }
	least, most := slices.MinFunc(d.Rungs, order), slices.MaxFunc(d.Rungs, order)
	if perFlight(least) == perFlight(most) || perFlight(least) >= 10 {
		return
	}
	l.warnAt(f.rng("requests"), sumUnevenRounds, "A round has %.3g requests for each in flight at rung %g and %.3g at rung %g, where its start weighs more. "+
		"Without the attribute requests it has 10 for each, and 40 at least.", perFlight(most), most.Value, perFlight(least), least.Value)
}

func perFlight(r plan.Rung) float64 {
	return float64(r.Requests) / float64(r.Shape.InFlight)
}

// checkWork bounds what all ladders of all cells send together. It adds those of a
// cell to the requests of the cells before.
func (l *loader) checkWork(e cell, total float64) float64 {
	total += float64(e.baseline.Warmup + e.baseline.Requests)
	for _, r := range e.retests {
		total += float64(r.Warmup + r.Requests)
	}
	if e.confirm != nil {
		total += float64(e.confirm.Warmup + e.confirm.Requests)
	}
	for _, d := range e.ladders {
		for _, r := range d.Rungs {
			n, _ := d.counted(r)
			total += n + float64(d.passes*r.Warmup)
			if total > maxRequests {
				l.errorAt(d.f.head(), sumTooMuchWork, "With this ladder, up to its rung %g, the plan has more than %d requests.", r.Value, maxRequests)
				return total
			}
		}
	}
	return total
}

// counted is how many requests all passes send at a rung, warm-ups apart. In a closed
// loop of a duration that is the server's to say: then ok is false.
func (l ladder) counted(r plan.Rung) (n float64, ok bool) {
	rounds := float64(l.passes * r.Rounds)
	switch {
	case l.Axis == plan.AxisRate:
		return rounds * r.Value * r.Duration.Seconds(), true
	case r.Duration > 0:
		return 0, false
	default:
		return rounds * float64(r.Requests), true
	}
}
