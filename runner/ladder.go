package runner

import (
	"context"
	"errors"
	"fmt"

	"rung/sinks/record"
	"rung/spec/plan"
)

// walk is one ladder under way.
type walk struct {
	l       plan.Ladder
	edge    int // index of the lowest rung that failed; len(rungs) where none did
	tallies []tally
}

// ladder walks a ladder, pass by pass, up to the edge that it finds.
func (r *run) ladder(l plan.Ladder) error {
	place := record.Place{Phase: record.Measure, Ladder: l.Name}
	r.event(record.LadderBegin, place, nil)
	w := &walk{l: l, edge: len(l.Rungs), tallies: make([]tally, len(l.Rungs))}
	var err error
	for _, pass := range l.Passes {
		if r.stopped() || w.edge == 0 || err != nil {
			break
		}
		place.Pass = pass.Index
		r.event(record.PassBegin, place, nil)
		err = r.pass(w, pass)
		r.event(record.PassEnd, place, nil)
	}
	r.event(record.LadderEnd, record.Place{Phase: record.Measure, Ladder: l.Name}, func(e *record.Event) {
		e.Reason = r.whyEnded(w, err)
	})
	return err
}

func (r *run) whyEnded(w *walk, err error) string {
	switch {
	case errors.Is(err, ErrServerGone):
		return err.Error()
	case r.stopped():
		return "interrupted"
	case err != nil:
		return err.Error()
	case w.edge < len(w.l.Rungs):
		return fmt.Sprintf("edge at %g", w.l.Rungs[w.edge].Value)
	default:
		return "last rung"
	}
}

func (r *run) pass(w *walk, pass plan.Pass) error {
	for _, i := range pass.Order {
		if i >= w.edge {
			continue
		}
		if r.stopped() {
			return nil
		}
		if err := r.rung(w, pass, i); err != nil {
			return err
		}
	}
	return nil
}

// rung is one visit of one rung: cool-down, warm-ups, rounds and, on the first
// walk up, the confirming rounds of an edge.
func (r *run) rung(w *walk, pass plan.Pass, i int) error {
	rung := w.l.Rungs[i]
	place := record.Place{Phase: record.Measure, Ladder: w.l.Name, Pass: pass.Index, Rung: i, Value: rung.Value}
	v := visitOf(w.l, rung)
	v.stay = &stay{r: r, place: place, from: record.RungBegin, to: record.RungEnd, after: r.trail,
		before: func() error { return r.approach(w.l, place) },
		warm:   func() (result, error) { return r.warmup(place, w.l.Prompt, rung.Shape, rung.Warmup) }}
	defer v.stay.leave()
	for round := range rung.Rounds {
		if r.stopped() {
			return nil
		}
		at := place // the rung's own place stays as it began
		at.Round = round
		v.before = w.tallies[i].failures
		res, err := r.round(at, v)
		if err != nil {
			return err
		}
		w.tallies[i].add(res)
		if reason := w.l.Stop.Edge(w.tallies[i].failures); reason != "" {
			return r.edge(w, at, v, reason, res.sent())
		}
		if reason := w.slow(i, r.cfg.Plan.Target.API, r.baselineP95); reason != "" {
			w.edge = i
			r.event(record.EdgeFound, at, func(e *record.Event) { e.Reason = reason })
			return nil
		}
		if err := r.checkAlive(res.sent()); err != nil { // no rule need say that a dead server ends the run
			return err
		}
	}
	return nil
}

// approach is what lies between two rungs: the cool-down, and a look whether the server
// is still there.
func (r *run) approach(l plan.Ladder, place record.Place) error {
	if !r.cooled && !r.coolDown(l, place) {
		return nil // the run is to stop
	}
	r.cooled = false
	return r.stillThere(place)
}

// stillThere asks the server before a rung, and waits for one that is away: what
// fell between two rungs says nothing of the next.
func (r *run) stillThere(place record.Place) error {
	err := r.ping()
	if err == nil || errors.Is(err, context.DeadlineExceeded) { // busy is there
		return nil
	}
	if err := r.awaitServer(false); err != nil {
		return err
	}
	if !r.stopped() {
		r.event(record.Warning, place, func(e *record.Event) {
			e.Reason = fmt.Sprintf("the server was away before %s %g and came back: %v", place.Ladder, place.Value, err)
		})
	}
	return nil
}

// edge marks the rung as the edge and, on the first walk up, sends the confirming
// rounds if the server still answers: "each round" is another fault than "only
// after the ninth".
func (r *run) edge(w *walk, place record.Place, v visit, reason string, rows []record.Request) error {
	w.edge = place.Rung
	r.event(record.EdgeFound, place, func(e *record.Event) { e.Reason = reason })
	if err := r.checkAlive(rows); err != nil {
		return err
	}
	if place.Pass > 0 {
		return nil
	}
	v.reruns, v.before = 0, plan.Tally{}
	place.Phase = record.Confirm
	for n := range w.l.Stop.ConfirmRounds {
		if r.stopped() {
			return nil
		}
		place.Round = n
		res, err := r.round(place, v)
		if err != nil {
			return err
		}
		if err := r.checkAlive(res.sent()); err != nil {
			return err
		}
	}
	return nil
}
