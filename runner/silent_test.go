package runner

import (
	"strings"
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
