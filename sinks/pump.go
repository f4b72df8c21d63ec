package sinks

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"rung/sinks/record"
)

// Pump stands between the runner and its sinks: Put never blocks and never
// touches a disk, and one goroutine owns the sinks.
type Pump struct {
	mu     sync.Mutex
	filled *sync.Cond
	rested *sync.Cond
	queue  []record.Item
	busy   bool // items were taken and are not all written
	closed bool
	err    error
	failed func(error)
	done   chan struct{}
	sinks  []Sink
}

// NewPump starts the goroutine. failed is called once, from it, when a sink
// failed: the run should stop, since what it measures is lost from then on.
func NewPump(failed func(error), sinks ...Sink) *Pump {
	p := &Pump{failed: failed, sinks: sinks, done: make(chan struct{})}
	p.filled, p.rested = sync.NewCond(&p.mu), sync.NewCond(&p.mu)
	go p.run()
	return p
}

// Put hands an item over. It is safe for concurrent use.
func (p *Pump) Put(it record.Item) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.queue = append(p.queue, it)
	p.filled.Signal()
}

// Wait waits until all that was put is with the sinks.
func (p *Pump) Wait() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) > 0 || p.busy {
		p.rested.Wait()
	}
}

// Close waits until everything is written, closes the sinks and returns the
// first error of any.
func (p *Pump) Close() error {
	p.mu.Lock()
	p.closed = true
	p.filled.Signal()
	p.mu.Unlock()
	<-p.done
	return p.err
}

// rhythm is how long items are let gather, so that what a sink does for each batch of
// them is not done for each alone. It is the most that a crash takes.
const rhythm = 20 * time.Millisecond

func (p *Pump) run() {
	defer close(p.done)
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.busy = false
		p.rested.Broadcast()
	}()
	for {
		items, more := p.take()
		for _, it := range items {
			p.write(it)
		}
		p.flush()
		if !more {
			break
		}
		time.Sleep(rhythm)
	}
	for _, s := range p.sinks {
		if err := s.Close(); err != nil && p.err == nil {
			p.err = fmt.Errorf("closing the results: %w", err)
		}
	}
}

// take waits for items; more is false with the last, since nothing is put after
// Close.
func (p *Pump) take() (items []record.Item, more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy = false
	for len(p.queue) == 0 && !p.closed {
		p.rested.Broadcast()
		p.filled.Wait()
	}
	items, p.queue, p.busy = p.queue, nil, true
	return items, !p.closed
}

// write gives an item to each sink until one fails; from then on nothing more is
// written, so that what is on disk is a beginning of the run and not a part of it.
func (p *Pump) write(it record.Item) {
	if p.err != nil {
		return
	}
	var errs []error
	for _, s := range p.sinks {
		errs = append(errs, s.Write(it))
	}
	p.fail(errors.Join(errs...))
}

// flush tells each sink that no more has come for now.
func (p *Pump) flush() {
	if p.err != nil {
		return
	}
	var errs []error
	for _, s := range p.sinks {
		if f, ok := s.(Flusher); ok {
			errs = append(errs, f.Flush())
		}
	}
	p.fail(errors.Join(errs...))
}

func (p *Pump) fail(err error) {
	if err != nil {
		p.err = fmt.Errorf("writing the results: %w", err)
		p.failed(p.err)
	}
}
