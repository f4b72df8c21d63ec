package runner

import (
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rung/runner/target"
	"rung/sinks/record"
	"rung/spec/plan"
)

// A closed loop keeps exactly so many in flight, as the server itself sees it,
// and the tail in which the last come back lies outside the steady window.
func TestClosedLoopKeepsN(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said { return said{after: time.Duration(20+q.n%5) * time.Millisecond} }
		for _, n := range []int{1, 4, 16} {
			f.most = 0
			out := walkAll(t, config(f.net, loadLadder(5*n, n)))
			if f.most != n {
				t.Errorf("the server had %d in flight, asked were %d", f.most, n)
			}
			e := out.events(record.RoundEnd)[0]
			if e.Verdict != record.Accepted || math.Abs(*e.MeanInFlight-float64(n)) > 1e-9 || *e.OK != 5*n {
				t.Errorf("%d in flight: %s, mean %g, %d ok", n, e.Verdict, *e.MeanInFlight, *e.OK)
			}
			first, last, end := math.Inf(1), 0.0, 0.0
			for _, r := range out.rows(phase(record.Measure)) {
				first, last, end = min(first, r.SentTS), max(last, r.SentTS), max(end, r.DoneTS)
			}
			window := last - first
			if n == 1 {
				window = end - first
			}
			if math.Abs(*e.WindowS-window) > 1e-9 || math.Abs(*e.WallS-(end-first)) > 1e-9 {
				t.Errorf("%d in flight: window %g, want %g; wall %g, want %g", n, *e.WindowS, window, *e.WallS, end-first)
			}
		}
	})
}

// A round in which too little was in flight measured the client: it is refused,
// run again with other bodies within its budget, and kept with its reason.
func TestClientLimited(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(asked) said { return said{after: 20 * time.Millisecond} }
		// A client that can't keep up with its answers, in the two rounds that come first.
		out := &tape{on: func(it record.Item) {
			if it.Tick != nil && it.Tick.Phase == record.Measure && it.Tick.Attempt < 2 {
				time.Sleep(30 * time.Millisecond)
			}
		}}
		if _, err := prepare(t, config(f.net, loadLadder(40, 4))).Run(t.Context(), t.Context(), out.put); err != nil {
			t.Fatal(err)
		}
		ends := out.events(record.RoundEnd)
		if len(ends) != 3 {
			t.Fatalf("%d rounds", len(ends))
		}
		for i, e := range ends {
			if want := i < 2; (e.Verdict == record.Rejected) != want || strings.HasPrefix(e.Reason, "client_limited: ") != want {
				t.Errorf("attempt %d: %s, %q", i, e.Verdict, e.Reason)
			}
		}
		bodies := map[string]bool{}
		for _, r := range out.rows(phase(record.Measure)) {
			bodies[r.BodySHA256] = true
			if r.Counted != (r.Attempt == 2) || r.Outcome != record.OK || r.Counted != (r.RejectReason == "") {
				t.Errorf("%+v", r)
			}
		}
		if len(bodies) != 120 {
			t.Errorf("%d different bodies", len(bodies))
		}
	})
}

// A round whose tokens are off is refused whole, and sent again with other bodies;
// where its budget is spent it stays out.
func TestTokenMismatch(t *testing.T) {
	for _, tt := range []struct {
		name     string
		bad      int // rounds whose third answer is off
		attempts int
		accepted bool
	}{{"once", 1, 2, true}, {"always", 9, 3, false}} {
		bubble(t, func(t *testing.T) {
			f := newFake(t)
			bad := 0
			f.answer = func(q asked) said {
				if q.inputs == 2 && (q.nth-1)%5 == 3 && bad < tt.bad { // after one warm-up, the third of five
					bad++
					return said{tokens: new(31)}
				}
				return said{after: time.Millisecond}
			}
			out := walkAll(t, config(f.net, batchLadder("batch", 1, 1, 5, 2)))
			rows := out.rows(phase(record.Measure))
			if len(rows) != 5*tt.attempts {
				t.Fatalf("%s: %d rows", tt.name, len(rows))
			}
			seen := map[string]bool{}
			for _, r := range rows {
				seen[r.BodySHA256] = true
				counted := tt.accepted && r.Attempt == tt.attempts-1
				reason := "token_mismatch: input tokens off the plan in 1 of 5 requests"
				if counted {
					reason = ""
				}
				if r.Counted != counted || r.RejectReason != reason {
					t.Errorf("%s: attempt %d: counted %t, %q", tt.name, r.Attempt, r.Counted, r.RejectReason)
				}
				if r.Outcome == record.TokenMismatch && (*r.InputTokens != 31 || r.InputTokensPlanned != 32) {
					t.Errorf("%s: %+v", tt.name, r)
				}
			}
			if len(seen) != len(rows) {
				t.Errorf("%s: %d different bodies in %d requests", tt.name, len(seen), len(rows))
			}
			if len(out.events(record.EdgeFound)) > 0 {
				t.Errorf("%s: a mismatch is no failure of the server", tt.name)
			}
		})
	}
}

// One cause with many victims is one incident; the next one is another.
func TestIncidents(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			after := said{after: 20 * time.Millisecond}
			switch {
			case q.n > 5 && q.n <= 9, q.n == 20: // the first four after the probe and the warm-ups, and much later one more
				after.status, after.body = 500, "Context size has been exceeded"
			case q.n == 14:
				after.status, after.body = 500, "boom"
			}
			return after
		}
		l := loadLadder(20, 4)
		l.Stop = plan.Stop{FailureRatio: 1}
		out := walkAll(t, config(f.net, l))
		count := map[int64]int{}
		for _, r := range out.rows(phase(record.Measure)) {
			if (r.Incident != nil) != (r.Outcome != record.OK) {
				t.Errorf("%+v", r)
			}
			if r.Incident != nil {
				count[*r.Incident]++
			}
		}
		if d := cmp.Diff([]int{1, 1, 4}, slices.Sorted(maps.Values(count))); d != "" {
			t.Errorf("requests by incident: %v", count)
		}
	})
}

// Vectors of another length in the midst of a run are no success, and what fails
// first must not set the length for the rest.
func TestDimensionChanges(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			if q.inputs == 2 && q.nth == 4 {
				return said{dims: 9}
			}
			return said{dims: 5}
		}
		l := batchLadder("batch", 1, 1, 10, 2)
		out := walkAll(t, config(f.net, l))
		for _, r := range out.rows(phase(record.Measure)) {
			want := record.OK
			if r.Index == 2 {
				want = record.BadResponse
			}
			if r.Outcome != want || want != record.OK && !strings.Contains(r.Error, "10 dimensions, those before in this run had 6") {
				t.Errorf("request %d: %s, %s", r.Index, r.Outcome, r.Error)
			}
		}
		p := prepare(t, config(f.net, l))
		p.dims = &dimension{}
		p.row(record.Place{}, 0, l.Rungs[0].Shape, call{}, target.Reply{}, target.Answer{Outcome: record.BadResponse, Dimensions: 3})
		if got := p.row(record.Place{}, 0, l.Rungs[0].Shape, call{}, target.Reply{}, target.Answer{Outcome: record.OK, Dimensions: 6}); got.Outcome != record.OK {
			t.Errorf("a bad answer set the dimension: %s", got.Error)
		}
	})
}

// A row has what the server said and nothing else.
func TestRowOfAFailure(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			switch {
			case q.inputs != 2 || q.nth == 1:
				return said{}
			case q.nth == 2:
				return said{status: http.StatusServiceUnavailable, body: "busy \x1b[31m"}
			default:
				return said{after: time.Hour}
			}
		}
		l := batchLadder("batch", 1, 1, 2, 2)
		l.Stop = plan.Stop{FailureRatio: 1}
		out := walkAll(t, config(f.net, l))
		rows := out.rows(phase(record.Measure))
		if r := rows[0]; r.Outcome != record.Unavailable || *r.Status != 503 || r.Error != "busy [31m" || r.InputTokens != nil || r.Stage != "" || r.InputsDone != 0 {
			t.Errorf("%+v", r)
		}
		if r := rows[1]; r.Outcome != record.Timeout || r.Status != nil || r.FirstByteTS != nil || r.Stage != record.StageTotal || r.LatencyS() != 60 || r.InputTokens != nil {
			t.Errorf("%+v", r)
		}
	})
}

// Warm-ups are sent at the rung's own shape, are recorded and never count, and
// their failures make no edge.
func TestWarmupNeverCounts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			if q.inputs > 1 && q.nth <= 3 {
				return said{status: 500, body: "CUDA out of memory"}
			}
			return said{}
		}
		l := batchLadder("batch", 1, 2, 2, 2, 3)
		for i := range l.Rungs {
			l.Rungs[i].Warmup = 3
		}
		out := walkAll(t, config(f.net, l))
		rows := out.rows(phase(record.Warmup))
		if len(rows) != 6 {
			t.Fatalf("%d warm-ups", len(rows))
		}
		for _, r := range rows {
			if r.Counted || r.RejectReason != "warmup" || r.Outcome != record.OOM || float64(r.Inputs) != r.Value {
				t.Errorf("%+v", r)
			}
		}
		if e := out.events(record.EdgeFound); len(e) > 0 || len(out.rows(phase(record.Measure))) != 8 {
			t.Errorf("edges %v", e)
		}
	})
}

// A plan of nothing is walked and ends.
func TestNothingToSend(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		l := batchLadder("batch", 2, 1, 0, 2)
		l.Rungs[0].Warmup = 0
		out := walkAll(t, config(f.net, l, batchLadder("none", 1, 1, 1)))
		if n := len(out.rows(phase(record.Measure))); n != 0 {
			t.Errorf("%d rows", n)
		}
		checkBalanced(t, out)
	})
}
