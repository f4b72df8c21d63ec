package runner

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rung/sinks/record"
	"rung/spec/plan"
)

// byPlace counts rows by phase, pass, rung's value and round.
func byPlace(rows []record.Request) map[string]int {
	out := map[string]int{}
	for _, r := range rows {
		out[fmt.Sprintf("%s pass %d rung %g round %d", r.Phase, r.Pass, r.Value, r.Round)]++
	}
	return out
}

var oom = said{status: 500, body: `{"error":{"message":"CUDA out of memory"}}`}

func measured(r record.Request) bool { return r.Phase == record.Measure || r.Phase == record.Confirm }

// An outcome of the stop rule trips at once: with one in flight nothing more is
// sent in the round, the edge is confirmed, the ladder ends there and later passes
// walk only below.
func TestEdgeTripsAtOnce(t *testing.T) {
	for name, failure := range map[string]said{"status 500": oom, "behind a 200": {status: 200, body: oom.body}} {
		bubble(t, func(t *testing.T) {
			f := newFake(t)
			f.answer = func(q asked) said {
				if q.inputs == 4 && q.nth > 1 && (q.nth-2)%3 == 1 { // after the warm-up, each second of three
					return failure
				}
				return said{}
			}
			out := walkAll(t, config(f.net, batchLadder("batch", 2, 3, 5, 2, 4, 8)))
			got := byPlace(out.rows(measured))
			want := map[string]int{
				"measure pass 0 rung 2 round 0": 5, "measure pass 0 rung 2 round 1": 5, "measure pass 0 rung 2 round 2": 5,
				"measure pass 0 rung 4 round 0": 2, // the second fails
				"confirm pass 0 rung 4 round 0": 3, "confirm pass 0 rung 4 round 1": 3, "confirm pass 0 rung 4 round 2": 3,
				"measure pass 1 rung 2 round 0": 5, "measure pass 1 rung 2 round 1": 5, "measure pass 1 rung 2 round 2": 5,
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s: %s", name, d)
			}
			if d := cmp.Diff([]string{"outcome oom in 1 of 2 requests"}, out.reasons(record.EdgeFound)); d != "" {
				t.Error(name, d)
			}
			if d := cmp.Diff([]string{"edge at 4"}, out.reasons(record.LadderEnd)); d != "" {
				t.Error(name, d)
			}
			checkBalanced(t, out)
			for _, r := range out.rows(measured) {
				if !r.Counted || r.Attempt != 0 {
					t.Errorf("%s: a round that was cut is a finding: %+v", name, r)
				}
			}
		})
	}
}

// A round that an outcome cut is not run again, whatever else was wrong with it.
func TestCutRoundIsNotRunAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			switch {
			case q.inputs == 4 && q.nth == 2:
				return said{tokens: new(1)}
			case q.inputs == 4 && q.nth == 3:
				return oom
			}
			return said{}
		}
		l := batchLadder("batch", 1, 1, 5, 4)
		l.Stop.ConfirmRounds = 0
		out := walkAll(t, config(f.net, l))
		if d := cmp.Diff(map[string]int{"measure pass 0 rung 4 round 0": 2}, byPlace(out.rows(measured))); d != "" {
			t.Error(d)
		}
		if e := out.events(record.EdgeFound); len(e) != 1 {
			t.Errorf("%+v", e)
		}
	})
}

// What is in flight when an outcome trips comes back, and is a row.
func TestEdgeDrains(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			s := said{after: time.Duration(20+q.n) * time.Millisecond}
			if q.n == 10 { // the fifth of the round, after a probe and four warm-ups
				s.status, s.body = oom.status, oom.body
			}
			return s
		}
		out := walkAll(t, config(f.net, loadLadder(40, 4)))
		rows := out.rows(phase(record.Measure))
		ok, failed := 0, 0
		for _, r := range rows {
			switch r.Outcome {
			case record.OK:
				ok++
			case record.OOM:
				failed++
			default:
				t.Errorf("%+v", r)
			}
		}
		// Sent until the failure came back: the first four, the fifth to the eighth.
		if failed != 1 || ok != 7 {
			t.Errorf("%d ok, %d failed", ok, failed)
		}
		if n := len(out.rows(phase(record.Confirm))); n != 3*40 {
			t.Errorf("%d confirming requests: it failed once only", n)
		}
	})
}

// One failure that no rule names is none: the ratio speaks from two on, and looks
// after a round, not in it.
func TestEdgeByRatio(t *testing.T) {
	for failures, wantEdge := range map[int]bool{1: false, 2: true} {
		bubble(t, func(t *testing.T) {
			f := newFake(t)
			f.answer = func(q asked) said {
				if q.inputs == 4 && q.nth > 1 && q.nth <= 1+failures {
					return said{status: 503, body: "busy"}
				}
				return said{}
			}
			l := batchLadder("batch", 1, 2, 20, 4, 8)
			l.Stop.ConfirmRounds = 1
			out := walkAll(t, config(f.net, l))
			edge := out.events(record.EdgeFound)
			if (len(edge) > 0) != wantEdge {
				t.Fatalf("%d failures: %v", failures, edge)
			}
			got := byPlace(out.rows(measured))
			want := map[string]int{"measure pass 0 rung 4 round 0": 20, "measure pass 0 rung 4 round 1": 20, "measure pass 0 rung 8 round 0": 20, "measure pass 0 rung 8 round 1": 20}
			if wantEdge {
				want = map[string]int{"measure pass 0 rung 4 round 0": 20, "confirm pass 0 rung 4 round 0": 20}
				if edge[0].Reason != "2 of 20 requests failed, more than the declared ratio of 0.01" || edge[0].Round != 0 {
					t.Errorf("%+v", edge[0])
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%d failures: %s", failures, d)
			}
		})
	}
}

// A failure in a later pass lowers the edge, without confirming rounds; the tally
// goes over all passes, as the report's does.
func TestLaterPassLowersEdge(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			if q.inputs == 4 && (q.nth == 5 || q.nth == 25) { // one in the first pass, one in the second
				return said{status: 503, body: "busy"}
			}
			return said{}
		}
		l := batchLadder("batch", 3, 1, 20, 2, 4, 8)
		out := walkAll(t, config(f.net, l))
		e := out.events(record.EdgeFound)
		if len(e) != 1 || e[0].Pass != 1 || e[0].Value != 4 || e[0].Reason != "2 of 40 requests failed, more than the declared ratio of 0.01" {
			t.Errorf("%+v", e)
		}
		want := map[string]int{
			"measure pass 0 rung 2 round 0": 20, "measure pass 0 rung 4 round 0": 20, "measure pass 0 rung 8 round 0": 20,
			"measure pass 1 rung 8 round 0": 20, "measure pass 1 rung 4 round 0": 20, "measure pass 1 rung 2 round 0": 20,
			"measure pass 2 rung 2 round 0": 20,
		}
		if d := cmp.Diff(want, byPlace(out.rows(measured))); d != "" {
			t.Error(d)
		}
	})
}

// Where the first rung fails nothing is left to walk, and the next ladder begins.
func TestEdgeAtFirstRung(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			if q.inputs == 4 {
				return oom
			}
			return said{}
		}
		l := batchLadder("batch", 3, 2, 2, 4, 8)
		l.Stop.ConfirmRounds = 0
		out := walkAll(t, config(f.net, l, batchLadder("next", 1, 1, 2, 1)))
		if d := cmp.Diff(map[string]int{"measure pass 0 rung 4 round 0": 1, "measure pass 0 rung 1 round 0": 2}, byPlace(out.rows(measured))); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]string{"edge at 4", "last rung"}, out.reasons(record.LadderEnd)); d != "" {
			t.Error(d)
		}
	})
}

// The pause stands between rungs and not before the first, and in it nothing is
// sent.
func TestCooldown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		l := batchLadder("batch", 2, 1, 1, 1, 2)
		l.Cooldown = plan.Duration(time.Hour)
		out := walkAll(t, config(f.net, l))
		begins, ends := out.events(record.RungBegin), out.events(record.RungEnd)
		if begins[0].TS > 1 {
			t.Errorf("the first rung waited: %g s", begins[0].TS)
		}
		for i := 1; i < len(begins); i++ {
			if gap := begins[i].TS - ends[i-1].TS; gap != 3600 {
				t.Errorf("%g s before rung %d", gap, i)
			}
		}
	})
}
