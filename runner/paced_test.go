package runner

import (
	"errors"
	"testing"
	"time"

	"rung/sinks/record"
)

// pacedCard reads by itself and hands on each reading when it is collected.
type pacedCard struct {
	card
	take    func([]record.Sample, int)
	ended   func(error)
	held    []record.Sample
	stopped bool
}

func (c *pacedCard) Start(_ time.Duration, take func([]record.Sample, int), ended func(error)) error {
	c.take, c.ended = take, ended
	return nil
}

func (c *pacedCard) read(late time.Duration) {
	c.held = append(c.held, record.Sample{UUID: "GPU-x", Time: time.Now(), LateS: late.Seconds(), SMClockMHz: new(1000.0)})
}

func (c *pacedCard) Collect() {
	held := c.held
	c.held = nil
	for i := range held {
		if c.take != nil {
			c.take(held[i:i+1], 1)
		}
	}
}

func (c *pacedCard) Stop() { c.Collect(); c.stopped = true }

func (c *pacedCard) Sample() ([]record.Sample, error) {
	c.Collect()
	return []record.Sample{{UUID: "GPU-x", Time: time.Now()}}, nil
}

// What a card read by itself belongs to where the run was then, however much later it
// comes; what was left out or came late is counted, and what a verdict needs is collected.
func TestSelfPacedSampler(t *testing.T) {
	bubble(t, func(t *testing.T) {
		out, c := &tape{}, &pacedCard{}
		r := &run{Prepared: &Prepared{clock: clock{time.Now()}}, emit: out.put, emitting: newTurn()}
		r.sampling = newSampling(r, c, 10*time.Millisecond)
		r.at(record.Place{Ladder: "first"})
		r.sampling.start()
		for range leastClocks {
			time.Sleep(time.Millisecond)
			c.read(0)
		}
		if _, clock := r.sampling.during(0, 1); clock != 1000 {
			t.Errorf("a verdict by a clock of %g MHz, not all was collected", clock)
		}
		c.read(20 * time.Millisecond)
		r.at(record.Place{Ladder: "second"})
		time.Sleep(time.Millisecond)
		c.read(0)
		r.sampling.force()
		time.Sleep(time.Millisecond)
		c.read(0)
		r.sampling.stop()
		var ladders string
		forced, last := 0, 0.0
		for _, s := range out.samples() {
			ladders += s.Ladder[:1]
			if s.Forced {
				forced++
			}
			if s.TS < last || s.TS != s.Time.Sub(r.clock.start).Seconds() {
				t.Errorf("%g s after %g s", s.TS, last)
			}
			last = s.TS
		}
		if ladders != "ffffsss" || forced != 1 || !c.stopped {
			t.Errorf("%q, %d forced, stopped %v", ladders, forced, c.stopped)
		}
		if r.sampling.late != 6+1 {
			t.Errorf("%d late or left out, want 7", r.sampling.late)
		}
		c.ended(errors.New("the card is gone"))
		c.ended(errors.New("and again"))
		if got := out.reasons(record.GPULost); len(got) != 1 || got[0] != "the card is gone" || r.sampling.lost != got[0] {
			t.Errorf("%q", got)
		}
	})
}
