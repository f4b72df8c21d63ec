package record

import "math"

// Window is a span of the run's clock, in seconds.
type Window struct{ Begin, End float64 }

// Len is the window's length in seconds.
func (w Window) Len() float64 { return w.End - w.Begin }

// SteadyWindow is the part of a round in which the asked number of requests was
// in flight: from the first send to the last send or, with one request in
// flight, to the last end, since then there is no tail. rows are all requests of
// one attempt of one round; the zero Window means that none was sent.
func SteadyWindow(rows []Request) Window {
	var w Window
	first := true
	for _, r := range rows {
		if !r.Sent() {
			continue
		}
		end := r.SentTS
		if r.InFlight <= 1 {
			end = r.DoneTS
		}
		if first {
			w, first = Window{r.SentTS, end}, false
			continue
		}
		w.Begin, w.End = min(w.Begin, r.SentTS), max(w.End, end)
	}
	return w
}

// WallS is the span from a round's first send to its last end, in seconds.
func WallS(rows []Request) float64 {
	begin, end := math.Inf(1), math.Inf(-1)
	for _, r := range rows {
		if r.Sent() {
			begin, end = min(begin, r.SentTS), max(end, r.DoneTS)
		}
	}
	return max(0, end-begin)
}

// MeanInFlight is the summed span (sent to done) of all requests, whatever their
// outcome, inside the window over its length: Little's law without a model. It
// is 0 for an empty window.
func MeanInFlight(rows []Request, w Window) float64 {
	if w.Len() <= 0 {
		return 0
	}
	var busy float64
	for _, r := range rows {
		if !r.Sent() {
			continue
		}
		if d := min(r.DoneTS, w.End) - max(r.SentTS, w.Begin); d > 0 {
			busy += d
		}
	}
	return busy / w.Len()
}
