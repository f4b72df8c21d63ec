package runner

import (
	"fmt"

	"rung/sinks/record"
	"rung/spec/plan"
)

// Limit is what the ladders so far say is to be configured for one of them.
type Limit struct {
	Ladder string
	Value  float64 // a rung's
	Reason string  // why there is no value
}

// checkReruns is how often a check at a limit that is refused is sent again.
const checkReruns = 3

// checks holds the limits that were found against more than they were found by: long
// text, and all of them at once. Who found them is not the runner's affair.
func (r *run) checks() error {
	c := r.cfg.Cell
	if len(c.Retests) == 0 && c.Confirm == nil || r.stopped() {
		return nil
	}
	limits := map[string]Limit{}
	if r.cfg.Limits != nil {
		found, err := r.cfg.Limits()
		if err != nil {
			return fmt.Errorf("the limits to be checked: %w", err)
		}
		for _, l := range found {
			limits[l.Ladder] = l
		}
	}
	for _, t := range c.Retests {
		if err := r.retest(t, limits); err != nil || r.stopped() {
			return err
		}
	}
	if c.Confirm == nil {
		return nil
	}
	return r.confirm(*c.Confirm, limits)
}

// retest sends other text at the limit of a ladder.
func (r *run) retest(t plan.Retest, limits map[string]Limit) error {
	place := record.Place{Phase: record.Retest, Ladder: t.Ladder}
	l, rung, ok := r.rungAt(limits[t.Ladder], t.Ladder)
	if !ok {
		return r.unchecked(place, "retest", limits[t.Ladder])
	}
	place.Rung, place.Value = rung.Index, rung.Value
	shape := rung.Shape
	shape.InputTokens, shape.OutputTokens = t.Tokens, t.Output
	return r.check(place, visit{prompt: t.Prompt, shape: shape, requests: t.Requests, reruns: checkReruns, stop: l.Stop, warm: t.Warmup > 0}, t.Warmup)
}

// confirm sends at all limits at once: the greatest batch and the most requests in
// flight that were found good, each alone.
func (r *run) confirm(c plan.Check, limits map[string]Limit) error {
	place := record.Place{Phase: record.Confirm}
	shape := plan.Shape{Batch: 1, InputTokens: c.Tokens, OutputTokens: c.Output, InFlight: 1}
	stop, found := plan.Stop{}, false
	for _, l := range r.cfg.Cell.Ladders {
		_, rung, ok := r.rungAt(limits[l.Name], l.Name)
		if !ok || !l.Axis.HasKnee() {
			continue
		}
		stop, found = l.Stop, true
		if l.Axis == plan.AxisBatch {
			shape.Batch = rung.Shape.Batch
		} else {
			shape.InFlight = rung.Shape.InFlight
		}
	}
	if !found {
		return r.unchecked(place, "confirmation", Limit{Reason: "no ladder of batch or concurrency has a limit"})
	}
	requests := max(c.Requests, 2*shape.InFlight)
	return r.check(place, visit{prompt: c.Prompt, shape: shape, requests: requests, reruns: checkReruns, stop: stop, warm: c.Warmup > 0}, max(c.Warmup, min(shape.InFlight, requests)))
}

// rungAt finds the rung of a limit.
func (r *run) rungAt(limit Limit, ladder string) (plan.Ladder, plan.Rung, bool) {
	for _, l := range r.cfg.Cell.Ladders {
		for _, rung := range l.Rungs {
			if l.Name == ladder && limit.Ladder == ladder && limit.Reason == "" && rung.Value == limit.Value {
				return l, rung, true
			}
		}
	}
	return plan.Ladder{}, plan.Rung{}, false
}

func (r *run) unchecked(place record.Place, what string, l Limit) error {
	why := l.Reason
	if why == "" {
		why = "no limit was found"
	}
	r.event(record.Warning, place, func(e *record.Event) { e.Reason = fmt.Sprintf("no %s: %s", what, why) })
	return nil
}

// check is one round at a limit, with its warm-ups.
func (r *run) check(place record.Place, v visit, warmup int) error {
	v.stay = &stay{r: r, place: place, from: record.PhaseBegin, to: record.PhaseEnd, after: r.trail,
		before: func() error { return r.stillThere(place) },
		warm: func() (result, error) {
			return r.warm(order{place: r.warmupsOf(place), prompt: v.prompt, shape: v.shape, n: warmup, keyed: "warm " + string(place.Phase)})
		}}
	defer v.stay.leave()
	res, err := r.round(place, v)
	if err != nil {
		return err
	}
	return r.checkAlive(res.sent())
}
