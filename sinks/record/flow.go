package record

// Flow is work done in steady windows, and the windows' summed length in seconds:
// the tail in which the last requests of a round drain is neither in the one nor in
// the other.
type Flow struct {
	Work float64 // in the unit of the worth that was given
	Span float64 // seconds
	Busy float64 // request-seconds in flight inside the windows
}

// Add adds one attempt of one round: the worth of the requests that ended in its steady
// window, 0 for what was no success. An attempt without a window adds nothing. worth is
// given the place of a request in the round's times.
func (f *Flow) Add(r Round, worth func(i int) float64) { f.AddWithin(r, r.SteadyWindow(), worth) }

// AddWithin adds what ended up to the end of a window.
func (f *Flow) AddWithin(r Round, w Window, worth func(i int) float64) {
	if w.Len() <= 0 {
		return
	}
	f.Span += w.Len()
	f.Busy += r.MeanInFlight(w) * w.Len()
	for i, t := range r.Times {
		if t.DoneTS <= w.End {
			f.Work += worth(i)
		}
	}
}

// Rate is the work per second; 0 without a window.
func (f Flow) Rate() float64 {
	if f.Span <= 0 {
		return 0
	}
	return f.Work / f.Span
}
