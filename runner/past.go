package runner

import (
	"fmt"
	"time"

	"rung/sinks/record"
)

// Past is what an earlier part of a run recorded, before it was stopped or killed. A
// run with a past goes the same way once more: rounds that are complete in it are taken
// from it and not sent, and its first round that is not complete is sent again as a
// further attempt, so that it shares no prompt with what was sent of it before.
type Past struct {
	Requests []record.Request
	Events   []record.Event
	Idle     []record.Sample // the last of each card in the baseline's idle time
	Elapsed  time.Duration   // since the run began, by the wall clock
}

// history is a past, by place. The zero value is that of a run without one.
type history struct {
	rounds   map[record.Place]*pastRound
	marks    map[mark]bool
	idle     map[string]*record.Sample
	times    int     // how often the run was resumed, with this time
	last     float64 // seconds on the run's clock that it reached
	incident int64   // the highest number of one
}

// mark is an event that is not to come twice.
type mark struct {
	kind   record.EventKind
	place  record.Place
	reason string // of a warning
}

// pastRound is one attempt of one round.
type pastRound struct {
	rows    []record.Request
	ended   bool // its verdict and all of its requests are there
	verdict record.Verdict
	reason  string
}

// cutShort is why a round does not count that the run's end cut short.
const cutShort = "interrupted"

// wasted says that the attempt is none of those that a round may have: it was cut short
// by the end of the run.
func (p *pastRound) wasted() bool {
	return !p.ended || p.verdict == record.Rejected && p.reason == cutShort
}

func newHistory(past *Past) history {
	if past == nil {
		return history{}
	}
	h := history{rounds: map[record.Place]*pastRound{}, marks: map[mark]bool{}, idle: map[string]*record.Sample{}, times: 1}
	for _, e := range past.Events {
		h.addEvent(e)
	}
	for _, row := range past.Requests {
		switch row.Phase {
		case record.Measure, record.Confirm, record.Baseline, record.Retest:
			p := h.round(row.Place)
			p.rows = append(p.rows, row)
		default: // probes and warm-ups are sent anew
		}
		h.last = max(h.last, row.DueTS, row.DoneTS)
		if row.Incident != nil {
			h.incident = max(h.incident, *row.Incident)
		}
	}
	for at, judged := range record.Judged(past.Requests, past.Events) {
		h.rounds[at].ended = judged
	}
	for i := range past.Idle {
		h.idle[past.Idle[i].UUID] = &past.Idle[i]
	}
	return h
}

func (h *history) addEvent(e record.Event) {
	h.last = max(h.last, e.TS)
	switch e.Kind {
	case record.Resumed:
		h.times++
	case record.RoundBegin:
		h.round(e.Place)
	case record.RoundEnd:
		p := h.round(e.Place)
		p.verdict, p.reason = e.Verdict, e.Reason
	default:
		h.marks[markOf(e.Kind, e.Place, e.Reason)] = true
	}
}

func (h *history) round(at record.Place) *pastRound {
	p := h.rounds[at]
	if p == nil {
		p = &pastRound{}
		h.rounds[at] = p
	}
	return p
}

func markOf(kind record.EventKind, place record.Place, reason string) mark {
	place.Round, place.Attempt = 0, 0
	if kind != record.Warning {
		reason = ""
	}
	return mark{kind, place, reason}
}

// told says that an event is in the past already: what begins is marked once, and what
// ends once more only where something was sent since.
func (h *history) told(e record.Event, live bool) bool {
	if !h.marks[markOf(e.Kind, e.Place, e.Reason)] {
		return false
	}
	switch e.Kind {
	case record.LadderBegin, record.PassBegin, record.EdgeFound, record.Warning:
		return true
	case record.LadderEnd, record.PassEnd:
		return !live
	default:
		return false
	}
}

// gap says in words what lies between the past and now, a point on the run's clock.
func (h *history) gap(now, elapsed float64) string {
	if elapsed < h.last {
		return fmt.Sprintf("the run had stopped at %.1f s; how long ago is not known, since the wall clock is behind", h.last)
	}
	return fmt.Sprintf("the run had stopped at %.1f s, %.1f s before by the wall clock", h.last, now-h.last)
}

// recall takes over an attempt of the past. over says that the round needs no other.
func (res *result) recall(p *pastRound, v visit) (over bool) {
	res.rows = append(res.rows, p.rows...)
	res.recalled = len(res.rows)
	if p.wasted() {
		return false
	}
	planned := v.requests
	if planned == 0 && v.rate > 0 {
		planned = len(p.rows)
	}
	trips := v.trips(planned)
	for _, row := range p.rows {
		if !row.ResetIdle && trips(row.Outcome) {
			res.cut = true
		}
	}
	if p.verdict == record.Accepted {
		res.counted = append(res.counted, p.rows)
	}
	return p.verdict == record.Accepted || res.cut
}

// sent are the rows that this part of the run sent.
func (res *result) sent() []record.Request { return res.rows[res.recalled:] }

// since is the clock of a run that began so long ago.
func since(past *Past, h history, now time.Time) clock {
	if past == nil {
		return clock{now}
	}
	return clock{now.Add(-max(past.Elapsed, time.Duration(h.last*float64(time.Second))))}
}

// warmupsOf are the place of the warm-ups before a stay. Those of each part of a run
// have prompts of their own.
func (r *run) warmupsOf(place record.Place) record.Place {
	place.Phase, place.Attempt = record.Warmup, r.past.times
	return place
}
