package runner

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"rung/sinks/record"
	"rung/spec/plan"
)

// A server that gave its usage before the run and then stops to does not have its
// lengths confirmed: the rounds are refused.
func TestUsageThatVanishes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			if q.n > 1 { // the first is the probe
				return said{body: `{"data":[{"index":0,"embedding":[1,0.5]}]}`}
			}
			return said{}
		}
		out := walkAll(t, config(f.net, batchLadder("batch", 1, 1, 1, 1)))
		rows := out.rows(phase(record.Measure))
		if len(rows) == 0 {
			t.Fatal("no rows")
		}
		for _, r := range rows {
			if r.Counted || r.Outcome != record.OK || !strings.Contains(r.RejectReason, "no usage in 1 of 1 answers") {
				t.Errorf("counted %t, %s, %q", r.Counted, r.Outcome, r.RejectReason)
			}
		}
	})
}

// A server that hangs costs the baseline one timeout, not sixty, and a rung's
// warm-ups one.
func TestSilentServerCostsLittle(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			if q.n > 1 {
				return said{after: time.Hour}
			}
			return said{}
		}
		l := batchLadder("batch", 1, 20, 1, 1, 2)
		for i := range l.Rungs {
			l.Rungs[i].Warmup = 3
		}
		cfg := config(f.net, l)
		shape := l.Rungs[0].Shape
		cfg.Cell.Baseline = &plan.Baseline{Prompt: l.Prompt, Shape: shape, Warmup: 5, Requests: 60}
		cfg.Plan.Cells = []plan.Cell{cfg.Cell}
		out := walkAll(t, cfg)
		if n := len(out.rows(phase(record.Baseline))); n != 1 {
			t.Errorf("%d requests in the baseline", n)
		}
		if n := len(out.rows(phase(record.Warmup))); n != 2 {
			t.Errorf("%d warm-ups, want one of the baseline and one of the first rung", n)
		}
		if why := out.reasons(record.Warning); len(why) == 0 || !strings.Contains(why[0], "the baseline ended after 1 of 60 requests: timeout") {
			t.Errorf("warnings %q", why)
		}
	})
}

// A server that hangs under load costs each round the timeouts that settle it, not
// those of every request.
func TestHangingRungCostsFewTimeouts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			if q.n > 1 {
				return said{after: time.Hour}
			}
			return said{}
		}
		l := loadLadder(40, 2)
		l.Stop.ConfirmRounds = 3
		out := walkAll(t, config(f.net, l))
		if n := len(out.rows(phase(record.Measure))); n > 4 {
			t.Errorf("%d requests in the round", n)
		}
		if n := len(out.rows(phase(record.Confirm))); n == 0 || n > 12 {
			t.Errorf("%d requests in the confirming rounds", n)
		}
		if e := out.events(record.EdgeFound); len(e) != 1 {
			t.Errorf("edges %v", e)
		}
	})
}

// A server that was away between two rungs and came back is no edge of the second.
func TestServerAwayBetweenRungs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		l := batchLadder("batch", 1, 2, 2, 1, 2)
		cfg := config(f.net, l)
		cfg.Plan.Cells[0].Ladders[0].Cooldown = plan.Duration(10 * time.Second)
		cfg.Cell = cfg.Plan.Cells[0]
		var away atomic.Bool
		cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if away.Load() {
				return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
			}
			return f.net.Dial(ctx, network, address)
		}
		p, out := prepare(t, cfg), &tape{}
		_, err := p.Run(t.Context(), t.Context(), func(it record.Item) {
			out.put(it)
			if it.Event != nil && it.Event.Kind == record.RungEnd && it.Event.Rung == 0 {
				away.Store(true)
				p.client.Close() // drops the idle connections
				time.AfterFunc(12*time.Second, func() { away.Store(false) })
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if e := out.events(record.EdgeFound); len(e) > 0 {
			t.Errorf("edges %v", e)
		}
		if why := out.reasons(record.Warning); len(why) != 1 || !strings.Contains(why[0], "the server was away before batch 2") {
			t.Errorf("warnings %q", why)
		}
		if n := len(out.rows(phase(record.Measure))); n != 8 {
			t.Errorf("%d measured requests, want 8", n)
		}
	})
}

// An answer without end is cut at its limit and is no success.
func TestAnswerWithoutEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			if q.n > 1 {
				return said{body: `{"data":[` + strings.Repeat(" ", leastAnswer)}
			}
			return said{}
		}
		out := walkAll(t, config(f.net, batchLadder("batch", 1, 1, 1, 1)))
		for _, r := range out.rows(phase(record.Measure)) {
			if r.Outcome != record.BadResponse || r.ResponseBytes > 4<<10 || !strings.Contains(r.Error, "larger than") {
				t.Errorf("%s, %d bytes kept, %q", r.Outcome, r.ResponseBytes, r.Error)
			}
		}
	})
}
