package record

import "testing"

// A round counts where its verdict and all of its requests are there, and else nowhere.
func TestVoid(t *testing.T) {
	at := func(round int) Place { return Place{Phase: Measure, Ladder: "batch", Round: round} }
	row := func(round int) Request { return Request{Place: at(round), Outcome: OK, Counted: true} }
	draft := func(round int) Request {
		return Request{Place: at(round), Outcome: OK, RejectReason: NoVerdict}
	}
	end := func(round, ok int) Event { return Event{Kind: RoundEnd, Place: at(round), OK: &ok, Failed: new(int)} }
	rows := []Request{row(0), row(0), row(1), draft(1), row(2), row(3)}
	events := []Event{end(0, 2), end(1, 2), end(2, 1), {Kind: RoundBegin, Place: at(3)}}
	Void(rows, Judged(rows, events))
	for i, want := range []bool{true, true, false, false, true, false} {
		if rows[i].Counted != want || want == (rows[i].RejectReason == NoVerdict) {
			t.Errorf("row %d of round %d: counts %t, %q", i, rows[i].Round, rows[i].Counted, rows[i].RejectReason)
		}
	}
}
