package runner

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rung/sinks/record"
	"rung/spec/plan"
)

// card is a GPU that is none: each reading takes a while, and one can fail.
type card struct {
	takes func(n int) time.Duration
	fails int // the reading that fails; 0: none
	n     int
	busy  bool
	t     *testing.T
}

func (c *card) Source() string           { return "fake" }
func (c *card) Devices() []record.Device { return []record.Device{{UUID: "GPU-x"}} }
func (c *card) Close() error             { return nil }
func (c *card) Sample() ([]record.Sample, error) {
	if c.busy && c.t != nil {
		c.t.Error("two readings at once")
	}
	c.busy = true
	defer func() { c.busy = false }()
	c.n++
	if c.takes != nil {
		time.Sleep(c.takes(c.n))
	}
	if c.n == c.fails {
		return nil, errors.New("GPU is lost")
	}
	return []record.Sample{{UUID: "GPU-x", MemUsedBytes: new(int64(c.n))}}, nil
}

// sampled runs only the sampling, for a while.
func sampled(t *testing.T, c *card, interval, span time.Duration) (*tape, *sampling) {
	t.Helper()
	out := &tape{}
	r := &run{Prepared: &Prepared{clock: clock{time.Now()}}, emit: out.put, emitting: newTurn()}
	r.at(record.Place{Ladder: "l"})
	s := newSampling(r, c, interval)
	s.start()
	time.Sleep(span)
	s.stop()
	return out, s
}

func times(out *tape) []float64 {
	var ts []float64
	for _, s := range out.samples() {
		ts = append(ts, math.Round(s.TS*1e6)/1e6)
	}
	return ts
}

// The schedule counts from its beginning: an hour of readings that each take a
// while ends where it should.
func TestSamplingDoesNotDrift(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := &card{takes: func(n int) time.Duration { return time.Duration(n%150) * time.Millisecond }, t: t}
		out, s := sampled(t, c, 200*time.Millisecond, time.Hour+time.Millisecond)
		ts := times(out)
		if len(ts) != 18001 || s.late != 0 {
			t.Fatalf("%d samples, %d late", len(ts), s.late)
		}
		for i, at := range ts {
			if math.Abs(at-float64(i)*0.2) > 1e-6 {
				t.Fatalf("sample %d at %g", i, at)
			}
		}
		if got := out.samples()[7]; got.Ladder != "l" || got.Forced || got.LateS != 0 || got.Time.IsZero() {
			t.Errorf("%+v", got)
		}
	})
}

// A reading that takes too long leaves out those it missed, says so, and the next
// is on the schedule again.
func TestSamplingSkips(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := &card{takes: func(n int) time.Duration {
			if n == 3 {
				return 650 * time.Millisecond
			}
			return 0
		}}
		out, s := sampled(t, c, 200*time.Millisecond, 1500*time.Millisecond)
		if d := cmp.Diff([]float64{0, 0.2, 0.4, 1.2, 1.4}, times(out)); d != "" {
			t.Error(d)
		}
		if s.late != 3 {
			t.Errorf("%d late or left out, want 3", s.late)
		}
	})
}

// The card is never read by two at once: what is forced waits for its turn.
func TestForcedSampleWaits(t *testing.T) {
	bubble(t, func(t *testing.T) {
		c := &card{takes: func(int) time.Duration { return 150 * time.Millisecond }, t: t}
		out := &tape{}
		r := &run{Prepared: &Prepared{clock: clock{time.Now()}}, emit: out.put, emitting: newTurn()}
		r.at(record.Place{})
		s := newSampling(r, c, 200*time.Millisecond)
		s.start()
		time.Sleep(50 * time.Millisecond)
		s.force()
		s.stop()
		if d := cmp.Diff([]float64{0, 0.15, 0.3}, times(out)); d != "" {
			t.Error(d)
		}
	})
}

// A card that is lost ends the samples and not the run.
func TestGPULost(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(asked) said { return said{after: time.Second} }
		cfg := config(f.net, batchLadder("batch", 1, 1, 3, 1, 2))
		c := &card{fails: 4, t: t}
		cfg.Sampler = c
		p, out := prepare(t, cfg), &tape{}
		s, err := p.Run(t.Context(), t.Context(), out.put)
		if err != nil || s.GPULost != "GPU is lost" || s.Interrupted {
			t.Errorf("%+v, %v", s, err)
		}
		if n := len(out.samples()); n != 3 || c.n != 4 {
			t.Errorf("%d samples, %d readings", n, c.n)
		}
		if d := cmp.Diff([]string{"GPU is lost"}, out.reasons(record.GPULost)); d != "" {
			t.Error(d)
		}
		if n := len(out.rows(phase(record.Measure))); n != 6 {
			t.Errorf("%d requests", n)
		}
	})
}

// At the end of the idle time and of each rung the card is read beside the
// schedule, an interval after the last request: what that took is seen.
func TestForcedSamples(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(asked) said { return said{after: 30 * time.Millisecond} }
		cfg := config(f.net, batchLadder("batch", 1, 1, 3, 1, 2))
		cfg.Cell.Baseline = &plan.Baseline{Idle: plan.Duration(10 * time.Second), Prompt: plan.Prompt{Name: "p"}, Shape: plan.Shape{Batch: 1, InputTokens: 16, InFlight: 1}, Warmup: 1, Requests: 3}
		cfg.Plan.GPU.Interval = plan.Duration(7 * time.Second)
		cfg.Sampler = &card{t: t}
		out := walkAll(t, cfg)
		samples := out.samples()
		if s := samples[0]; !s.Forced || s.Phase != record.Probe || s.TS > out.rows()[0].SentTS {
			t.Errorf("the card was not read before the first request: %+v", s)
		}
		var forced []record.Sample
		for _, s := range samples[1:] {
			if s.Forced {
				forced = append(forced, s)
			}
		}
		ends := append(out.events(record.IdleEnd), out.events(record.RungEnd)...)
		if len(forced) != 3 || len(ends) != 3 {
			t.Fatalf("%d forced samples, %d ends", len(forced), len(ends))
		}
		for i, s := range forced {
			if s.TS != ends[i].TS || s.Ladder != ends[i].Ladder || s.Rung != ends[i].Rung {
				t.Errorf("forced at %+v, the end is %+v", s, ends[i])
			}
		}
		rows := out.rows(phase(record.Measure))
		if last := rows[len(rows)-1]; math.Abs(forced[2].TS-last.DoneTS-7) > 1e-9 {
			t.Errorf("%g s after the last request", forced[2].TS-last.DoneTS)
		}
	})
}

// Samples say where the run was; between rungs it is nowhere.
func TestSamplesKnowTheirPlace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(asked) said { return said{after: time.Second} }
		l := batchLadder("batch", 1, 1, 3, 1, 2)
		l.Cooldown = plan.Duration(10 * time.Second)
		cfg := config(f.net, l)
		cfg.Sampler = &card{t: t}
		out := walkAll(t, cfg)
		begins, ends := out.events(record.RungBegin), out.events(record.RungEnd)
		for _, s := range out.samples() {
			inside := false
			for i := range begins {
				inside = inside || s.TS > begins[i].TS && s.TS <= ends[i].TS && s.Value == begins[i].Value
			}
			if inside != (s.Ladder != "") && s.TS != begins[0].TS && s.TS != begins[1].TS {
				t.Errorf("at %g s: %+v", s.TS, s.Place)
			}
		}
	})
}
