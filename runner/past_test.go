package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rung/sinks/record"
	"rung/spec/plan"
)

// broken is an experiment with a baseline, an edge with its confirming rounds, passes
// down and up, and a second ladder.
func broken(f *fake) Config {
	f.answer = func(q asked) said {
		if q.inputs >= 8 {
			return said{status: 500, body: `{"error":{"message":"CUDA out of memory"}}`}
		}
		return said{after: 5 * time.Millisecond}
	}
	cfg := config(f.net, batchLadder("batch", 3, 2, 3, 1, 2, 4, 8), loadLadder(12, 1, 2))
	cfg.Cell.Baseline = &plan.Baseline{Idle: plan.Duration(time.Second), Prompt: plan.Prompt{Name: "p"}, Warmup: 1, Requests: 6,
		Shape: plan.Shape{Batch: 1, InputTokens: 16, InFlight: 1}}
	cfg.Plan.Cells[0] = cfg.Cell
	return cfg
}

// pastOf is what a crash leaves of the first items of a run: those that came by then,
// and what had come back of the round under way.
func pastOf(items []record.Item) *Past {
	past, open := &Past{}, map[string]record.Request{}
	for _, it := range items {
		switch {
		case it.Draft != nil:
			row := *it.Draft
			row.RejectReason = record.NoVerdict
			open[row.ID] = row
		case it.Request != nil:
			delete(open, it.Request.ID)
			past.Requests = append(past.Requests, *it.Request)
		case it.Event != nil:
			past.Events = append(past.Events, *it.Event)
		}
	}
	for _, row := range open {
		past.Requests = append(past.Requests, row)
	}
	record.Void(past.Requests, record.Judged(past.Requests, past.Events))
	return past
}

// work is what a report rests on: how often each planned request counts, and how often
// each failed in a round that was complete.
func work(rows []record.Request) map[string]int {
	out := map[string]int{}
	for _, r := range rows {
		if r.Phase == record.Probe || r.Phase == record.Warmup || r.RejectReason == record.NoVerdict || r.RejectReason == "interrupted" {
			continue
		}
		out[fmt.Sprintf("%s %s pass %d rung %d round %d request %d: %s, counted %t", r.Phase, r.Ladder, r.Pass, r.Rung, r.Round, r.Index, r.Outcome, r.Counted)]++
	}
	return out
}

// A run that is cut anywhere and goes on from what was recorded by then does the rest of
// the work: nothing twice, nothing left out, and no prompt that the server has seen.
func TestResumeAnywhere(t *testing.T) {
	var whole *tape
	bubble(t, func(t *testing.T) {
		whole = walkAll(t, broken(newFake(t)))
	})
	step := 1
	if raced {
		step = 17
	}
	want := work(whole.rows())
	for cut := 0; cut <= len(whole.items); cut += step {
		bubble(t, func(t *testing.T) {
			cfg := broken(newFake(t))
			cfg.Past = pastOf(whole.items[:cut])
			cfg.Past.Elapsed = time.Hour
			rest := walkAll(t, cfg)
			rows := slices.Concat(cfg.Past.Requests, rest.rows())
			if diff := cmp.Diff(want, work(rows)); diff != "" {
				t.Errorf("cut after item %d (-whole +resumed):\n%s", cut, diff)
			}
			checkUnseen(t, cut, cfg.Past.Requests, rest.rows())
			if n := len(rest.events(record.EdgeFound)) + kinds(cfg.Past.Events, record.EdgeFound); n != 1 {
				t.Errorf("cut after item %d: %d edges", cut, n)
			}
			if r := rest.reasons(record.Resumed); len(r) != 1 || !strings.Contains(r[0], "the run had stopped at") {
				t.Errorf("cut after item %d: %q", cut, r)
			}
			for _, row := range rest.rows() {
				if row.SentTS < 3600 {
					t.Fatalf("cut after item %d: a request was sent at %.1f s, an hour after the run began", cut, row.SentTS)
				}
			}
		})
	}
}

// checkUnseen fails where a request has the bytes of one that was sent before the cut.
func checkUnseen(t *testing.T, cut int, before, after []record.Request) {
	t.Helper()
	seen := map[string]bool{}
	for _, r := range before {
		seen[r.BodySHA256] = true
	}
	for _, r := range after {
		if seen[r.BodySHA256] {
			t.Errorf("cut after item %d: %s %s %g round %d request %d was sent before", cut, r.Phase, r.Ladder, r.Value, r.Round, r.Index)
			return
		}
	}
}

func kinds(events []record.Event, kind record.EventKind) int {
	n := 0
	for _, e := range events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// A run that was interrupted twice goes on each time, and its interrupted rounds cost
// nothing of what a round may be run again.
func TestResumeInterrupted(t *testing.T) {
	var want map[string]int
	bubble(t, func(t *testing.T) { want = work(walkAll(t, broken(newFake(t))).rows()) })
	bubble(t, func(t *testing.T) {
		past := &Past{}
		for _, after := range []int{20, 60, 1 << 30} {
			cfg := broken(newFake(t))
			cfg.Cell.Ladders[0].Reruns, cfg.Cell.Ladders[1].Reruns = 0, 0
			if len(past.Events) > 0 {
				cfg.Past = past
			}
			drain, stop := context.WithCancel(t.Context())
			out, n := &tape{}, 0
			out.on = func(it record.Item) {
				if it.Draft != nil {
					if n++; n == after {
						stop()
					}
				}
			}
			if _, err := prepare(t, cfg).Run(drain, t.Context(), out.put); err != nil {
				t.Fatal(err)
			}
			stop()
			now := pastOf(out.items)
			past = &Past{Requests: append(past.Requests, now.Requests...), Events: append(past.Events, now.Events...), Elapsed: past.Elapsed + time.Minute}
		}
		if diff := cmp.Diff(want, work(past.Requests)); diff != "" {
			t.Errorf("(-whole +resumed):\n%s", diff)
		}
		if n := kinds(past.Events, record.Resumed); n != 2 {
			t.Errorf("resumed %d times", n)
		}
	})
}

// Where the wall clock is behind what the run had reached, its own clock goes on from
// there all the same.
func TestResumeWithTheClockBehind(t *testing.T) {
	bubble(t, func(t *testing.T) {
		whole := walkAll(t, broken(newFake(t)))
		cfg := broken(newFake(t))
		cfg.Past = pastOf(whole.items[:len(whole.items)/2])
		rest := walkAll(t, cfg)
		last := newHistory(cfg.Past).last
		if e := rest.events(record.Resumed)[0]; e.TS < last || !strings.Contains(e.Reason, "not known") {
			t.Errorf("at %.3f s after %.3f s: %s", e.TS, last, e.Reason)
		}
	})
}
