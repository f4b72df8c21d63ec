package runner

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"rung/runner/self"
	"rung/sinks/record"
	"rung/spec/plan"
)

// clientInterval is between two samples of the instrument itself.
const clientInterval = time.Second

// leastStep is how far the wall clock must move against the monotonic one to have
// stepped: less is a clock that is being slewed.
const leastStep = 500 * time.Millisecond

// mostBusy is the share of its cores above which the client may have bound a round,
// and leastSeen how long a round must be for that to be told from its beginning.
const (
	mostBusy  = 0.85
	leastSeen = 200 * time.Millisecond
)

// spareDescriptors are what a run needs beside its connections: files, the
// libraries' own, connections that are being closed.
const spareDescriptors = 32

// checkDescriptors fails where the widest rung needs more connections than this
// process may open: its requests would fail, and look like the server's.
func (p *Prepared) checkDescriptors() error {
	if p.cfg.Usage == nil {
		return nil
	}
	u := p.cfg.Usage()
	open := 0
	if u.Descriptors != nil {
		open = *u.Descriptors
	}
	need := int64(widest(p.cfg.Cell) + open + spareDescriptors)
	if u.Limit == nil || need <= *u.Limit {
		return nil
	}
	return fmt.Errorf("%d requests in flight need about %d descriptors, and this process may open %d: raise the limit (ulimit -n %d) or lower the ladder",
		widest(p.cfg.Cell), need, *u.Limit, need)
}

// floorLength is how long the self-check sends.
const floorLength = time.Second

// checkSelf measures the instrument's floor at the planned load.
func (p *Prepared) checkSelf(ctx context.Context) error {
	p.instrument.IntervalS = clientInterval.Seconds()
	if p.cfg.SelfCheck == "" {
		p.instrument.Unchecked = "no self-check in this run"
		return nil
	}
	if p.cfg.SelfCheck != SelfCheck {
		p.instrument.Unchecked = p.cfg.SelfCheck
		return nil
	}
	pr, shape := p.busiest()
	m := p.materials[pr.Name]
	body, _, err := m.body(ctx, p.client, shape, func(input int) [32]byte {
		return p.cfg.Plan.Draw(plan.Key{Phase: "self-check"}, input)
	})
	if err != nil {
		return err
	}
	answer := bytes.Repeat([]byte("0"), int(min(1<<30, max(1, p.perInput*int64(shape.Batch)))))
	f, err := self.Floor(ctx, self.Load{InFlight: shape.InFlight, Body: body, Answer: answer, Stream: pr.Stream, Length: floorLength})
	if err != nil {
		return err
	}
	p.instrument.Floor = &f
	return nil
}

// openFloor bounds what the self-check of an open loop keeps in flight: what may be
// in flight there is a bound, not a plan.
const openFloor = 64

// busiest is the prompt and the shape of the rung with most requests in flight.
func (p *Prepared) busiest() (plan.Prompt, plan.Shape) {
	var pr plan.Prompt
	var shape plan.Shape
	for _, l := range p.cfg.Cell.Ladders {
		for _, r := range l.Rungs {
			s := r.Shape
			if l.Axis == plan.AxisRate {
				s.InFlight = min(s.InFlight, openFloor)
			}
			if s.InFlight > shape.InFlight {
				pr, shape = l.Prompt, s
			}
		}
	}
	return pr, shape
}

// watching samples the instrument until it is stopped.
type watching struct {
	r    *run
	quit chan struct{}
	done chan struct{}
}

func (r *run) watch() *watching {
	w := &watching{r: r, quit: make(chan struct{}), done: make(chan struct{})}
	if r.cfg.Usage == nil {
		close(w.done)
		return w
	}
	go w.run()
	return w
}

func (w *watching) stop() {
	close(w.quit)
	<-w.done
}

func (w *watching) run() {
	defer close(w.done)
	worst := func() time.Duration { return 0 }
	if w.r.cfg.Dial == nil { // virtual time has no stalls
		heart := self.NewHeart()
		defer heart.Stop()
		worst = heart.Worst
	}
	t := time.NewTicker(clientInterval)
	defer t.Stop()
	before, at, wall := w.r.cfg.Usage(), time.Now(), w.r.wall()
	for {
		select {
		case <-t.C:
		case <-w.quit:
			return
		}
		u, now, clock := w.r.cfg.Usage(), time.Now(), w.r.wall()
		apart := now.Sub(at)
		step := clock.Sub(wall) - apart
		w.r.sampleSelf(u, before, apart, worst(), step)
		before, at, wall = u, now, clock
	}
}

// sampleSelf gives out one sample of the instrument.
func (r *run) sampleSelf(u, before self.Usage, apart, stall, step time.Duration) {
	place, now := *r.here.Load(), time.Now()
	c := &record.ClientSample{
		Place: place, Time: now, TS: r.clock.at(now), CPUPct: 100 * self.CPUShare(before, u, apart), GCPauseS: (u.GCPauses - before.GCPauses).Seconds(),
		StallS: stall.Seconds(), Goroutines: u.Goroutines, MemoryBytes: u.MemoryBytes, Descriptors: u.Descriptors, Limit: u.Limit, InFlight: r.air.count(),
	}
	if step.Abs() >= leastStep {
		c.WallStepS = step.Seconds()
		r.event(record.ClockStep, place, func(e *record.Event) {
			e.Reason = fmt.Sprintf("the wall clock stepped by %+.3f s; spans go by the monotonic clock and don't change", step.Seconds())
		})
	}
	r.send(record.Item{Client: c})
}

// wall is the wall clock alone.
func (r *run) wall() time.Time {
	if r.cfg.Wall != nil {
		return r.cfg.Wall().Round(0)
	}
	return time.Now().Round(0)
}

// watched begins to look at what the client takes and whether it runs at all; what it
// gives says, at the end, whether a round of these rows measured the client.
func (r *run) watched() func(rows []record.Request) string {
	if r.cfg.Usage == nil {
		return func([]record.Request) string { return "" }
	}
	before, begin := r.cfg.Usage(), time.Now()
	var heart *self.Heart
	if r.cfg.Dial == nil { // virtual time has no stalls
		heart = self.NewHeart()
	}
	return func(rows []record.Request) string {
		if heart != nil {
			defer heart.Stop()
			if why := stalled(heart.Worst(), latencies(rows)); why != "" {
				return why
			}
		}
		span := time.Since(begin)
		return busy(self.CPUShare(before, r.cfg.Usage(), span), span)
	}
}

// A stall of this process is more than a scheduler's whim from leastStall on, and spoils a
// round where it is a good part of what a request takes.
const (
	leastStall = 250 * time.Millisecond
	mostStall  = 0.5 // of the median latency
)

// stalled says that this process stood still in a round: it was suspended, the machine
// slept, or another process took all cores.
func stalled(stall time.Duration, latencies []float64) string {
	if stall < leastStall || len(latencies) > 0 && stall.Seconds() < mostStall*record.Quantile(latencies, 0.5) {
		return ""
	}
	return fmt.Sprintf("client_limited: rung itself stood still for %.2f s in the round (suspended, or another process took all cores)", stall.Seconds())
}

// busy says that the client itself had hardly any time left in a round.
func busy(share float64, span time.Duration) string {
	if span < leastSeen || share <= mostBusy {
		return ""
	}
	return fmt.Sprintf("client_limited: rung itself took %.0f %% of the processor time that it may have", 100*share)
}
