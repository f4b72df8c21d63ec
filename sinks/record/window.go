package record

import "math"

// Window is a span of the run's clock, in seconds.
type Window struct{ Begin, End float64 }

// Len is the window's length in seconds.
func (w Window) Len() float64 { return w.End - w.Begin }

// Times are those of one request, in seconds on the run's clock. SentTS and DoneTS are NaN
// for what was never sent.
type Times struct{ DueTS, SentTS, DoneTS float64 }

// Sent says whether the request was sent at all.
func (t Times) Sent() bool { return !math.IsNaN(t.SentTS) }

// LatencyS is the span from due to done, in seconds; NaN for what was never sent.
func (t Times) LatencyS() float64 { return t.DoneTS - t.DueTS }

// Round is when the requests of one attempt of one round came and went, in any order.
type Round struct {
	InFlight int // asked of a closed loop; of an open one the most that may be
	Times    []Times
}

// RoundOf takes the times from rows, which are all those of one attempt of one round.
func RoundOf(rows []Request) Round {
	r := Round{Times: make([]Times, len(rows))}
	for i := range rows {
		r.InFlight, r.Times[i] = rows[i].InFlight, rows[i].Times()
	}
	return r
}

// SteadyWindow is the part of a round in which the asked number of requests was
// in flight: from the first send to the last send or, with one request in
// flight, to the last end, since then there is no tail. The zero Window means that
// none was sent.
func (r Round) SteadyWindow() Window {
	var w Window
	first := true
	for _, t := range r.Times {
		if !t.Sent() {
			continue
		}
		end := t.SentTS
		if r.InFlight <= 1 {
			end = t.DoneTS
		}
		if first {
			w, first = Window{t.SentTS, end}, false
			continue
		}
		w.Begin, w.End = min(w.Begin, t.SentTS), max(w.End, end)
	}
	return w
}

// WallS is the span from the first send to the last end, in seconds.
func (r Round) WallS() float64 {
	begin, end := math.Inf(1), math.Inf(-1)
	for _, t := range r.Times {
		if t.Sent() {
			begin, end = min(begin, t.SentTS), max(end, t.DoneTS)
		}
	}
	return max(0, end-begin)
}

// MeanInFlight is the summed span (sent to done) of all requests, whatever their
// outcome, inside the window over its length: Little's law without a model. It
// is 0 for an empty window.
func (r Round) MeanInFlight(w Window) float64 {
	if w.Len() <= 0 {
		return 0
	}
	var busy float64
	for _, t := range r.Times {
		if !t.Sent() {
			continue
		}
		if d := min(t.DoneTS, w.End) - max(t.SentTS, w.Begin); d > 0 {
			busy += d
		}
	}
	return busy / w.Len()
}
