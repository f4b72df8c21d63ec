package runner

import (
	"context"
	"fmt"

	"rung/sinks/record"
	"rung/spec/plan"
)

// Bounds on the bodies that are held at once: some are made before the round's clock
// starts, the others beside it, and none waits for more than this.
const (
	heldBytes = 64 << 20
	leastHeld = 64 // whatever their size, where so many are sent as the clock starts

	endlessHeld = 16 << 10 // of a round that has no number of requests: it may need but a few
)

// supply hands out the requests of a round, in order. Their bytes exist before they
// are handed out.
type supply struct {
	calls chan call
	err   error // why there are no more; set before calls is closed
	quit  context.CancelFunc
	done  chan struct{}
}

// order is what is to be made: the n calls of one place, or without end where n < 0.
type order struct {
	place  record.Place
	prompt plan.Prompt
	shape  plan.Shape
	n      int
	keyed  string // the phase in the key of its draws, where it is not the place's
}

// supply begins to make calls and returns when as many are there as will be held.
// Texts, for which the server counts tokens, are all made by then: it must not be
// asked beside what is measured.
func (r *run) supply(ctx context.Context, o order) (*supply, error) {
	ctx, quit := context.WithCancel(ctx)
	first, err := r.call(ctx, o, 0)
	if err != nil {
		quit()
		return nil, err
	}
	held := max(min(leastHeld, o.shape.InFlight), heldBytes/max(1, len(first.body)))
	if o.n < 0 {
		held = min(held, endlessHeld)
	}
	if o.n >= 0 && (o.n < held || r.materials[o.prompt.Name].ids == nil) {
		held = o.n
	}
	s := &supply{calls: make(chan call, max(1, held)), quit: quit, done: make(chan struct{})}
	full := make(chan struct{})
	go s.make(ctx, r, o, first, full)
	<-full
	if s.failed() {
		return nil, s.err
	}
	return s, nil
}

// make makes the calls; full is closed as soon as no more can be held, or all are
// made.
func (s *supply) make(ctx context.Context, r *run, o order, next call, full chan struct{}) {
	defer close(s.done)
	defer close(s.calls)
	filling := true
	stopFilling := func() {
		if filling {
			close(full)
			filling = false
		}
	}
	defer stopFilling()
	for i := 0; o.n < 0 || i < o.n; i++ {
		if i > 0 {
			if next, s.err = r.call(ctx, o, i); s.err != nil {
				return
			}
		}
		select {
		case s.calls <- next:
			continue
		default:
			stopFilling()
		}
		select {
		case s.calls <- next:
		case <-ctx.Done():
			return
		}
	}
}

// failed says whether making ended with an error by now.
func (s *supply) failed() bool {
	select {
	case <-s.done:
		return s.err != nil
	default:
		return false
	}
}

// close ends the making. It returns why calls could not be made, where they couldn't.
func (s *supply) close() error {
	s.quit()
	<-s.done
	return s.err
}

// call makes the i-th request of an order.
func (r *run) call(ctx context.Context, o order, i int) (call, error) {
	m, p := r.materials[o.prompt.Name], o.place
	key := plan.Key{Phase: string(p.Phase), Ladder: p.Ladder, Pass: p.Pass, Rung: p.Rung, Round: p.Round, Attempt: p.Attempt, Index: i}
	if o.keyed != "" {
		key.Phase = o.keyed
	}
	draw := m.drawer(r.cfg.Plan, key)
	body, tokens, err := m.body(ctx, r.client, o.shape, draw)
	if err != nil && !r.stopped() { // the server counts texts: it may be gone, or have been for a moment
		if err := r.awaitServer(false); err != nil {
			return call{}, err
		}
		body, tokens, err = m.body(ctx, r.client, o.shape, draw)
	}
	if err != nil {
		return call{}, fmt.Errorf("prompt %q: %w", o.prompt.Name, err)
	}
	return call{index: i, id: r.cfg.Plan.ID(key), body: body, sum: digest(body), tokens: tokens, stream: o.prompt.Stream}, nil
}
