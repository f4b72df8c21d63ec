package runner

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"rung/sinks/record"
	"rung/spec/plan"
)

// interrupted runs a plan whose drain ends after a while and, where abortAfter is
// set, whose abort ends too. It says how long the run took from the interrupt on.
func interrupted(t *testing.T, cfg Config, after, abortAfter time.Duration) (*tape, Summary, time.Duration) {
	t.Helper()
	p, out := prepare(t, cfg), &tape{}
	abort, giveUp := context.WithCancel(t.Context())
	drain, stop := context.WithCancel(abort)
	defer giveUp()
	defer stop()
	begin := time.Now()
	time.AfterFunc(after, stop)
	if abortAfter > 0 {
		time.AfterFunc(abortAfter, giveUp)
	}
	s, err := p.Run(drain, abort, out.put)
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(begin) - after
	synctest.Wait()
	return out, s, took
}

// The first interrupt sends no more; what is in flight comes back and is a row,
// and the round that was cut does not count.
func TestInterruptDrains(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(asked) said { return said{after: time.Second} }
		l := loadLadder(40, 4)
		l.Rungs[0].Warmup = 0
		l.Rungs = append(l.Rungs, l.Rungs[0])
		l.Rungs[1].Index, l.Rungs[1].Value = 1, 5
		l.Passes[0].Order = []int{0, 1}
		out, s, took := interrupted(t, config(f.net, l, batchLadder("next", 1, 1, 1, 1)), 2500*time.Millisecond, 0)
		rows := out.rows(phase(record.Measure))
		if !s.Interrupted || took != 500*time.Millisecond || len(rows) != 12 {
			t.Errorf("interrupted %t, %d rows, %s after the interrupt", s.Interrupted, len(rows), took)
		}
		for _, r := range rows {
			if r.Outcome != record.OK || r.Counted || r.RejectReason != "interrupted" {
				t.Errorf("%+v", r)
			}
		}
		if n := f.seen(); n != 1+12 { // the request before the run, too
			t.Errorf("the server saw %d requests", n)
		}
		if got := out.reasons(record.LadderEnd); len(got) != 1 || got[0] != "interrupted" || len(out.events(record.Interrupted)) != 1 || len(out.events(record.EdgeFound)) > 0 {
			t.Errorf("%q", got)
		}
		if n := len(out.events(record.RoundBegin)); n != 1 {
			t.Errorf("%d rounds begun: what was cut is not run again", n)
		}
		checkBalanced(t, out)
	})
}

// The second gives up what is in flight, at once.
func TestInterruptAborts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			if q.n == 1 {
				return said{}
			}
			return said{after: 50 * time.Second}
		}
		l := loadLadder(4, 4) // all are sent: that does not make the round whole
		l.Rungs[0].Warmup = 0
		out, s, took := interrupted(t, config(f.net, l), time.Second, 2*time.Second)
		rows := out.rows(phase(record.Measure))
		if !s.Interrupted || took != time.Second || len(rows) != 4 {
			t.Errorf("interrupted %t, %d rows, %s after the interrupt", s.Interrupted, len(rows), took)
		}
		for _, r := range rows {
			if r.Outcome != record.Cancelled || r.Counted || r.RejectReason != "interrupted" || r.Incident != nil {
				t.Errorf("%+v", r)
			}
		}
		if len(out.events(record.EdgeFound)) > 0 {
			t.Error("an edge of what was cancelled")
		}
	})
}

// abort alone is enough.
func TestAbortAlone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(asked) said { return said{after: time.Second} }
		p, out := prepare(t, config(f.net, batchLadder("batch", 1, 5, 5, 1, 2))), &tape{}
		abort, giveUp := context.WithCancel(t.Context())
		time.AfterFunc(2500*time.Millisecond, giveUp)
		s, err := p.Run(t.Context(), abort, out.put)
		if err != nil || !s.Interrupted || f.seen() > 4 {
			t.Errorf("%v, %+v, %d requests", err, s, f.seen())
		}
	})
}

// A server that closes on the same signal must not look like one that failed.
func TestAbortWhileServerCloses(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		abort, giveUp := context.WithCancel(t.Context())
		f.answer = func(q asked) said {
			if q.n == 1 {
				return said{}
			}
			return said{after: time.Hour, until: abort.Done()}
		}
		l := loadLadder(4, 4)
		l.Rungs[0].Warmup = 0
		p, out := prepare(t, config(f.net, l)), &tape{}
		time.AfterFunc(time.Second, giveUp)
		if _, err := p.Run(t.Context(), abort, out.put); err != nil {
			t.Fatal(err)
		}
		for _, r := range out.rows(phase(record.Measure)) {
			if r.Outcome != record.Cancelled {
				t.Errorf("%s: %s", r.Outcome, r.Error)
			}
		}
	})
}

// An interrupt ends every kind of waiting.
func TestInterruptWhileWaiting(t *testing.T) {
	for name, set := range map[string]func(c *Config, f *fake){
		"idle": func(c *Config, _ *fake) {
			c.Cell.Baseline = &plan.Baseline{Idle: plan.Duration(time.Hour), Prompt: plan.Prompt{Name: "p"}, Shape: plan.Shape{Batch: 1, InputTokens: 16, InFlight: 1}, Warmup: 1, Requests: 1}
		},
		"cooldown": func(c *Config, _ *fake) { c.Cell.Ladders[0].Cooldown = plan.Duration(time.Hour) },
		"trail":    func(c *Config, _ *fake) { c.Plan.GPU.Interval, c.Sampler = plan.Duration(time.Hour), &card{} },
		"making texts": func(_ *Config, f *fake) {
			textOnly(f, 2)
			count := tokeniser(2, 0)
			n := 0
			f.tokenise = func(body string) (int, string) {
				if n++; n > 20 {
					time.Sleep(10 * time.Second)
				}
				return count(body)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f := newFake(t)
				cfg := config(f.net, batchLadder("batch", 1, 20, 1, 1, 2, 3, 4))
				set(&cfg, f)
				out, s, took := interrupted(t, cfg, 2*time.Second, 0)
				if !s.Interrupted || took != 0 {
					t.Errorf("%+v, %s after the interrupt", s, took)
				}
				checkBalanced(t, out)
				for _, e := range out.events(record.LadderEnd) {
					if e.Reason != "interrupted" {
						t.Errorf("%q", e.Reason)
					}
				}
				for _, it := range out.items {
					if it.Request != nil && it.Request.SentTS > 2.1 {
						t.Errorf("sent after the interrupt: %+v", it.Request)
					}
				}
			})
		})
	}
}
