package runner

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rung/sinks/record"
	"rung/spec/plan"
)

// company is a card on which processes compute: those that are the server's, and from
// a reading on another one, for so many.
type company struct {
	card
	server []int64
	from   int
	to     int
	newPid atomic.Bool // the server was started again
}

func (c *company) Sample() ([]record.Sample, error) {
	samples, err := c.card.Sample()
	if err != nil {
		return nil, err
	}
	samples[0].Processes = c.server
	if c.newPid.Load() {
		samples[0].Processes = []int64{77}
	}
	if c.n >= c.from && c.n < c.to {
		samples[0].Processes = append([]int64{4711}, samples[0].Processes...)
	}
	return samples, nil
}

// A round in which another process computes on the card is refused, and run again; one
// that was there before the ladders is the server's.
func TestSharedGPU(t *testing.T) {
	for _, tt := range []struct {
		name    string
		card    *company
		refused int
	}{
		{"the server alone", &company{server: []int64{1, 2}}, 0},
		{"pids can't be seen", &company{}, 0},
		{"another for a while", &company{server: []int64{1}, from: 30, to: 34}, 1},
		{"there from the start", &company{server: []int64{1}, from: 1, to: 1 << 30}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f := newFake(t)
				f.answer = func(asked) said { return said{after: 500 * time.Millisecond} }
				cfg := config(f.net, batchLadder("batch", 1, 4, 10, 1))
				cfg.Sampler = tt.card
				out := walkAll(t, cfg)
				var reasons []string
				for _, e := range out.events(record.RoundEnd) {
					if e.Verdict == record.Rejected {
						reasons = append(reasons, e.Reason)
					}
				}
				if len(reasons) != tt.refused || len(reasons) > 0 && !strings.HasPrefix(reasons[0], "gpu_shared: process 4711") {
					t.Errorf("%q", reasons)
				}
				if n := len(out.events(record.RoundEnd)); n != 4+tt.refused {
					t.Errorf("%d rounds", n)
				}
			})
		})
	}
}

// A server that was started again has another pid, which is its own.
func TestRestartedServerIsKnown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(asked) said { return said{after: 500 * time.Millisecond} }
		cfg := config(f.net, batchLadder("a", 1, 1, 10, 1), batchLadder("b", 1, 1, 10, 1))
		c := &company{server: []int64{1}}
		cfg.Sampler = c
		cfg.Server = &restarts{does: func(int) error { c.newPid.Store(true); return nil }}
		cfg.Cell.Server = &plan.Server{Command: []string{"x"}, Restart: plan.RestartLadder}
		for _, e := range walkAll(t, cfg).events(record.RoundEnd) {
			if e.Verdict != record.Accepted {
				t.Errorf("%s: %s", e.Ladder, e.Reason)
			}
		}
	})
}
