package record

// Flow is work done in steady windows, and the windows' summed length in seconds:
// the tail in which the last requests of a round drain is neither in the one nor in
// the other.
type Flow struct {
	Work float64 // in the unit of the worth that was given
	Span float64 // seconds
	Busy float64 // request-seconds in flight inside the windows
}

// Add adds one attempt of one round: the worth of the successes whose end lies in
// its steady window. An attempt without a window adds nothing.
func (f *Flow) Add(rows []Request, worth func(Request) float64) {
	w := SteadyWindow(rows)
	if w.Len() <= 0 {
		return
	}
	f.Span += w.Len()
	f.Busy += MeanInFlight(rows, w) * w.Len()
	for _, r := range rows {
		if r.Outcome == OK && r.DoneTS <= w.End {
			f.Work += worth(r)
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
