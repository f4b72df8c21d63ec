package runner

import "rung/sinks/record"

// stay is the time at one place of the plan. What comes before its first round (a pause,
// its mark, warm-ups) happens when that round is about to be sent, and never where an
// earlier part of the run has all of its rounds.
type stay struct {
	r        *run
	place    record.Place
	from, to record.EventKind // its marks

	before func() error           // nil: nothing comes before its mark
	warm   func() (result, error) // what comes between its mark and its first round
	after  func()                 // between the last round and the mark of its end; nil: nothing

	arrived, marked bool
	quickest        float64 // seconds that the quickest warm-up took; 0: not known
}

// arrive makes ready for a round; once. Whether the run was stopped meanwhile is for
// the caller to ask.
func (s *stay) arrive() error {
	if s.arrived {
		return nil
	}
	s.arrived = true
	s.r.live.Store(true)
	if s.before != nil {
		if err := s.before(); err != nil || s.r.stopped() {
			return err
		}
	}
	s.r.event(s.from, s.place, nil)
	s.marked = true
	res, err := s.warm()
	if l := latencies(res.rows); len(l) > 0 {
		s.quickest = l[0]
	}
	return err
}

// leave ends the stay, where there was one.
func (s *stay) leave() {
	if !s.marked {
		return
	}
	if s.after != nil {
		s.after()
	}
	s.r.event(s.to, s.place, nil)
	s.r.at(record.Place{})
}

// trail reads the card and the server once more after the last request.
func (r *run) trail() {
	r.sampling.trail(r.drain)
	r.metering.force()
}
