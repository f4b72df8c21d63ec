package results

import (
	"fmt"
	"slices"

	"rung/sinks/record"
	"rung/spec/plan"
)

// checkWarmup is the phase that the warm-ups of a retest and of a confirmation have
// here. In the rows they have the place of the ladder's rung, or the baseline's, and
// are neither's.
const checkWarmup record.Phase = "check_warmup"

// checking says whether a phase of the runner holds limits against more than they
// were found by. Further rounds at an edge have a ladder too, and no phase.
func checking(p record.Place) bool {
	return p.Phase == record.Retest || p.Phase == record.Confirm && p.Ladder == ""
}

// checksBegun are the events of checks that begin.
func (r *Run) checksBegun() []record.Event {
	var begins []record.Event
	for _, e := range r.Events {
		if e.Kind == record.PhaseBegin && checking(e.Place) {
			begins = append(begins, e)
		}
	}
	return begins
}

// afterAny says that a time lies behind one of the beginnings that are of a ladder.
func afterAny(begins []record.Event, ladder string, ts float64) bool {
	return slices.ContainsFunc(begins, func(e record.Event) bool { return e.Ladder == ladder && ts >= e.TS })
}

// The kinds of check, and what they can say.
const (
	CheckRetest  = "retest"  // other text at the limit of one ladder
	CheckConfirm = "confirm" // all limits at once

	Confirmed    = "confirmed"
	NotConfirmed = "not confirmed"
	NotChecked   = "not checked"
)

// Check is what came of holding limits against more than they were found by.
type Check struct {
	Kind     string     `json:"kind"`
	Ladder   string     `json:"ladder,omitempty"` // of a retest
	Text     string     `json:"text"`             // what was sent
	Value    *float64   `json:"value,omitempty"`  // of the rung that it was sent at
	Shape    plan.Shape `json:"shape"`
	Sent     int        `json:"sent"`
	Latency  *Latency   `json:"latency,omitempty"`
	Failures []Failures `json:"failures,omitempty"`
	Warmups  []Failures `json:"warmup_failures,omitempty"`

	PeakBytes   *int64 `json:"peak_bytes,omitempty"`
	PeakSamples int    `json:"peak_samples"`
	// AfterHighWater says that earlier load had already taken as much, so that the peak
	// says nothing of the check.
	AfterHighWater bool `json:"after_high_water"`

	Verdict string `json:"verdict"` // confirmed, not confirmed, not checked
	Reason  string `json:"reason"`
}

// checks are those that the plan asks for, in its order.
func (m *memory) checks(c plan.Cell, all visits, ladders []*walked, rules plan.Headroom) []Check {
	var out []Check
	for _, t := range c.Retests {
		k := Check{Kind: CheckRetest, Ladder: t.Ladder, Text: textOf(t.Prompt), Shape: plan.Shape{InputTokens: t.Tokens, OutputTokens: t.Output}}
		place := record.Place{Phase: record.Retest, Ladder: t.Ladder}
		i := slices.IndexFunc(ladders, func(w *walked) bool { return w.plan.Name == t.Ladder })
		var stop plan.Stop
		if i >= 0 {
			stop = ladders[i].plan.Stop
		}
		m.check(&k, place, all, stop, rules)
		if k.Value != nil && i >= 0 {
			if l := ladders[i].out.Limit; l.Value == nil || *l.Value != *k.Value {
				k.Verdict, k.Reason = NotChecked, fmt.Sprintf("it was sent at %g, which is not the limit", *k.Value)
			}
		}
		out = append(out, k)
	}
	if c.Confirm != nil {
		k := Check{Kind: CheckConfirm, Text: textOf(c.Confirm.Prompt), Shape: plan.Shape{InputTokens: c.Confirm.Tokens, OutputTokens: c.Confirm.Output}}
		m.check(&k, record.Place{Phase: record.Confirm}, all, stopOfAll(ladders), rules)
		if why := otherLimits(k.Shape, ladders); k.Sent > 0 && why != "" {
			k.Verdict, k.Reason = NotChecked, why
		}
		out = append(out, k)
	}
	return out
}

// stopOfAll is the rule of the last ladder that has a limit of load, by which the
// runner sends the confirmation.
func stopOfAll(ladders []*walked) plan.Stop {
	var s plan.Stop
	for _, w := range ladders {
		if w.plan.Axis.HasKnee() && w.out.Limit.Value != nil {
			s = w.plan.Stop
		}
	}
	return s
}

// otherLimits says that a confirmation was sent at other values than the limits are,
// which they are where other rules find them.
func otherLimits(s plan.Shape, ladders []*walked) string {
	for _, w := range ladders {
		r := w.out.at(w.out.Limit.Value)
		switch {
		case r == nil:
		case w.plan.Axis == plan.AxisBatch && r.Shape.Batch != s.Batch:
			return fmt.Sprintf("it was sent at batch %d, which is not the limit", s.Batch)
		case w.plan.Axis == plan.AxisConcurrency && r.Shape.InFlight != s.InFlight:
			return fmt.Sprintf("it was sent with %d in flight, which is not the limit", s.InFlight)
		}
	}
	return ""
}

// check fills in what a phase showed.
func (m *memory) check(k *Check, place record.Place, all visits, stop plan.Stop, rules plan.Headroom) {
	mine := all.filter(func(a attempt) bool { return a.Ladder == place.Ladder })
	rows := mine.in(place.Phase)
	k.Warmups = failures(mine.in(checkWarmup).tally())
	tally := rows.tally()
	k.Sent, k.Failures = tally.Total, failures(tally)
	counted := rows.filter(func(a attempt) bool { return a.counted })
	k.Latency = summarise(counted.latencies())
	if len(rows) > 0 {
		q := rows[0].rows.At(0)
		k.Shape.Batch, k.Shape.InFlight = q.Inputs, q.InFlight
		if place.Ladder != "" {
			k.Value = &rows[0].Value
		}
	}
	m.peak(k, place)
	k.Verdict, k.Reason = m.holds(k, place, stop.Edge(tally), len(counted) > 0, rules)
}

// peak is the greatest memory of the phase.
func (m *memory) peak(k *Check, place record.Place) {
	from, to, ok := m.window(record.PhaseBegin, record.PhaseEnd, func(p record.Place) bool { return p.Phase == place.Phase && p.Ladder == place.Ladder })
	if !ok {
		return
	}
	used := m.used(from, to, anywhere)
	if len(used) == 0 {
		return
	}
	peak := slices.Max(used)
	k.PeakBytes, k.PeakSamples = &peak, len(used)
	level := int64(0)
	for _, s := range m.samples {
		if s.TS < from {
			level = *s.MemUsedBytes
		}
	}
	k.AfterHighWater = float64(peak) <= float64(level)*1.001 && m.idle != nil && m.total != nil && float64(level-*m.idle) > taken*float64(*m.total)
}

// holds judges a check by the stop rule of its ladder, and by the memory that is to
// stay free.
func (m *memory) holds(k *Check, place record.Place, failed string, counts bool, rules plan.Headroom) (verdict, reason string) {
	switch {
	case k.Sent == 0:
		for _, e := range m.events {
			if e.Kind == record.Warning && e.Phase == place.Phase && e.Ladder == place.Ladder {
				return NotChecked, e.Reason
			}
		}
		return NotChecked, "nothing was sent"
	case failed != "":
		return NotConfirmed, failed
	case !counts:
		return NotChecked, "no round of it counts"
	}
	if k.PeakBytes != nil && !k.AfterHighWater && !m.upFront && m.total != nil && unsoundHeadroom(rules) == "" {
		total := float64(*m.total)
		if free := total - float64(m.reserved()) - rules.Safety*total - float64(*k.PeakBytes); free < 0 {
			return NotConfirmed, fmt.Sprintf("its peak of %.1f GiB leaves less than the declared safety of %g %%", float64(*k.PeakBytes)/(1<<30), 100*rules.Safety)
		}
	}
	return Confirmed, fmt.Sprintf("%s, none of which met the stop rule", count(k.Sent, "request", "requests"))
}

// checked says beside a limit what the checks of it came to. One that did not hold
// outweighs others that did.
func (l *Ladder) checked(all []Check) {
	if l.Limit.Value == nil {
		return
	}
	l.Limit.Check, l.Limit.Checked = NotChecked, "not checked: the spec has no check of it"
	for _, k := range all {
		mine := k.Kind == CheckRetest && k.Ladder == l.Name || k.Kind == CheckConfirm && l.Axis.HasKnee()
		if !mine || l.Limit.Check == NotConfirmed {
			continue
		}
		by := "the retest"
		if k.Kind == CheckConfirm {
			by = "the confirmation"
		}
		said := k.Verdict + " by " + by
		switch k.Verdict {
		case NotConfirmed:
			l.Limit.Checked = said + ": " + k.Reason
		case Confirmed:
			if l.Limit.Check == Confirmed {
				said = l.Limit.Checked + " and " + by
			}
			l.Limit.Checked = said
		default:
			if l.Limit.Check == Confirmed {
				continue
			}
			l.Limit.Checked = said + ": " + k.Reason
		}
		l.Limit.Check, l.Limit.By = k.Verdict, k.Kind
	}
}
