package record

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func row(sent, done float64, inFlight int) Request {
	return Request{SentTS: sent, DoneTS: done, InFlight: inFlight}
}

// With one in flight the window ends with the last answer, with more at the last
// send: what drains afterwards is in no denominator.
func TestSteadyWindow(t *testing.T) {
	for _, tt := range []struct {
		name             string
		rows             []Request
		want             Window
		wall, meanFlight float64
	}{
		{"none", nil, Window{}, 0, 0},
		{"one", []Request{row(1, 3, 1)}, Window{1, 3}, 2, 1},
		{"one after another", []Request{row(1, 2, 1), row(2, 4, 1)}, Window{1, 4}, 3, 1},
		{"a pause between", []Request{row(0, 1, 1), row(3, 4, 1)}, Window{0, 4}, 4, 0.5},
		{"two in flight", []Request{row(0, 2, 2), row(0, 3, 2), row(2, 10, 2)}, Window{0, 2}, 10, 2},
		{"all sent at once", []Request{row(5, 6, 2), row(5, 7, 2)}, Window{5, 5}, 2, 0},
		{"in any order", []Request{row(2, 10, 2), row(0, 3, 2), row(0, 2, 2)}, Window{0, 2}, 10, 2},
	} {
		r := RoundOf(tt.rows)
		w := r.SteadyWindow()
		if w != tt.want || r.WallS() != tt.wall || r.MeanInFlight(w) != tt.meanFlight {
			t.Errorf("%s: %+v, wall %g, mean in flight %g", tt.name, w, r.WallS(), r.MeanInFlight(w))
		}
	}
}

// A closed loop that never idles has N in flight on average, whatever the spread
// of its times, and never more.
func TestMeanInFlightOfAPerfectClient(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 16).Draw(t, "in flight")
		free := make([]float64, n) // when each sender is free again
		var rows []Request
		for range rapid.IntRange(2*n, 10*n).Draw(t, "requests") {
			next := 0
			for i := range free {
				if free[i] < free[next] {
					next = i
				}
			}
			took := rapid.Float64Range(0.001, 5).Draw(t, "seconds")
			rows = append(rows, row(free[next], free[next]+took, n))
			free[next] += took
		}
		r := RoundOf(rows)
		if got := r.MeanInFlight(r.SteadyWindow()); math.Abs(got-float64(n)) > 1e-6 {
			t.Fatalf("%g, want %d", got, n)
		}
	})
}

func TestServerFailure(t *testing.T) {
	for _, o := range Outcomes() {
		mine := o == OK || o == TokenMismatch || o == ClientLimited || o == Cancelled || o == Dropped
		if o.ServerFailure() == mine {
			t.Errorf("%s: %t", o, o.ServerFailure())
		}
	}
}
