package runner

import (
	"strings"
	"testing"
	"time"

	"rung/runner/memnet"
	"rung/sinks/record"
	"rung/spec/plan"
)

// thermal is a card that is as it was in the idle time but for what a test sets.
type thermal struct {
	card
	now func() record.Sample
}

func (c *thermal) Sample() ([]record.Sample, error) {
	s := record.Sample{UUID: "GPU-x", MemTotalBytes: new(int64(100 << 30)), MemUsedBytes: new(int64(10 << 30)), TemperatureC: new(40.0), SMClockMHz: new(1965.0)}
	if c.now != nil {
		n := c.now()
		if n.MemUsedBytes != nil {
			s.MemUsedBytes = n.MemUsedBytes
		}
		if n.TemperatureC != nil {
			s.TemperatureC = n.TemperatureC
		}
		if n.SMClockMHz != nil {
			s.SMClockMHz = n.SMClockMHz
		}
	}
	return []record.Sample{s}, nil
}

// settling is a ladder of two rungs whose cool-down waits for the card, after an idle
// time that says how it was.
func settling(n *memnet.Listener, c Sampler) Config {
	l := batchLadder("batch", 1, 1, 2, 1, 2)
	l.Settle = &plan.Settle{Timeout: plan.Duration(time.Minute), Memory: 0.02, Temperature: 5, Clock: 0.05}
	cfg := config(n, l)
	cfg.Cell.Baseline = &plan.Baseline{Idle: plan.Duration(10 * time.Second), Prompt: l.Prompt, Shape: l.Rungs[0].Shape, Requests: 2}
	cfg.Sampler = c
	return cfg
}

// The cool-down ends as soon as the card is back in all that is asked, or at its cap,
// and says which. Between its ends nothing is sent.
func TestSettle(t *testing.T) {
	for _, tt := range []struct {
		name    string
		off     record.Sample // until 20 s after the first rung began
		forever bool
		want    string
	}{
		{"at once", record.Sample{}, false, "settled after 0.0 s"},
		{"within what is allowed", record.Sample{TemperatureC: new(45.0), SMClockMHz: new(1870.0), MemUsedBytes: new(int64(12 << 30))}, true, "settled after 0.0 s"},
		{"temperature", record.Sample{TemperatureC: new(60.0)}, false, "settled after 20.0 s"},
		{"memory", record.Sample{MemUsedBytes: new(int64(13 << 30))}, false, "settled after 20.0 s"},
		{"clock", record.Sample{SMClockMHz: new(1580.0)}, false, "settled after 20.0 s"},
		{"too hot for good", record.Sample{TemperatureC: new(60.0)}, true, "given up after 60.0 s: temperature is 20 °C above"},
		{"an allocator that keeps all", record.Sample{MemUsedBytes: new(int64(13 << 30))}, true, "given up after 60.0 s: memory is 3.00 GiB above the idle time's"},
		{"a clock that stays low, and heat", record.Sample{SMClockMHz: new(1580.0), TemperatureC: new(50.0)}, true, "given up after 60.0 s: temperature is 10 °C above, the SM clock is 1580 MHz, it was 1965"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				begun := time.Time{} // of the ladder
				c := &thermal{}
				c.now = func() record.Sample {
					if begun.IsZero() || !tt.forever && time.Since(begun) > 20*time.Second {
						return record.Sample{}
					}
					return tt.off
				}
				f := newFake(t)
				p := prepare(t, settling(f.net, c))
				out := &tape{on: func(it record.Item) {
					if e := it.Event; e != nil && e.Kind == record.LadderBegin {
						begun = time.Now()
					}
				}}
				if _, err := p.Run(t.Context(), t.Context(), out.put); err != nil {
					t.Fatal(err)
				}
				ends := out.reasons(record.SettleEnd)
				if len(ends) != 1 || !strings.HasPrefix(ends[0], tt.want) || strings.Contains(tt.want, "given up") && ends[0] != tt.want {
					t.Errorf("%q, want %q", ends, tt.want)
				}
				begin, end := out.events(record.SettleBegin)[0], out.events(record.SettleEnd)[0]
				for _, r := range out.rows() {
					if r.SentTS > begin.TS && r.SentTS < end.TS {
						t.Errorf("sent while the card settles: %+v", r)
					}
				}
			})
		})
	}
}

// Where nothing tells how the card is, the cool-down takes its cap and says why; an
// interrupt ends it.
func TestSettleWithoutSamples(t *testing.T) {
	bubble(t, func(t *testing.T) {
		cfg := settling(newFake(t).net, nil)
		cfg.Sampler = nil
		out := walkAll(t, cfg)
		if ends := out.reasons(record.SettleEnd); len(ends) != 1 || ends[0] != "given up after 60.0 s: no samples of the card, so that nothing tells when it is" {
			t.Errorf("%q", ends)
		}
	})
	bubble(t, func(t *testing.T) {
		c := &thermal{}
		heat := time.Now().Add(10_100 * time.Millisecond)
		c.now = func() record.Sample {
			if time.Now().After(heat) {
				return record.Sample{TemperatureC: new(90.0)}
			}
			return record.Sample{}
		}
		out, s, took := interrupted(t, settling(newFake(t).net, c), 30*time.Second, 0)
		if !s.Interrupted || took > 200*time.Millisecond || len(out.rows(phase(record.Measure))) != 2 {
			t.Errorf("%+v, %s after the interrupt, %d rows", s, took, len(out.rows(phase(record.Measure))))
		}
	})
}
