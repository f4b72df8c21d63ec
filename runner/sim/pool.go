package sim

import (
	"context"
	"slices"
	"sync"
	"time"
)

// pool is memory for tokens that was taken at the start. Sequences enter in order,
// each with its prompt, and grow; where one finds it full, the newest is pushed out
// and has to enter again with all that it had.
// Doing that over costs the card's time, which is how paging lowers the throughput.
type pool struct {
	size  int
	evict func() // is told of each that was pushed out

	mu      sync.Mutex
	used    int
	running []*sequence // in the order in which they entered
	waiting []*sequence
	lost    time.Duration // that the card spent on doing over, while the others stood still
}

// sequence is one prompt and what was generated for it.
type sequence struct {
	tokens  int
	entered chan struct{} // closed when it is in
	out     bool          // it was pushed out, and does not know it yet
	seen    time.Duration // of the pool's lost time
}

// enter waits until a sequence fits. One that was pushed out waits before all others.
func (p *pool) enter(ctx context.Context, s *sequence) error {
	p.mu.Lock()
	if s.out {
		s.out = false
		p.waiting = slices.Insert(p.waiting, 0, s)
	} else {
		p.waiting = append(p.waiting, s)
	}
	s.entered = make(chan struct{})
	p.admit()
	p.mu.Unlock()
	select {
	case <-s.entered:
		return nil
	case <-ctx.Done():
		p.leave(s)
		return ctx.Err()
	}
}

// admit lets in who waits, in order, while there is room for a token more of each: who
// just fitted would be pushed out at once, and again for ever.
func (p *pool) admit() {
	for len(p.waiting) > 0 && p.used+p.waiting[0].tokens+len(p.running)+1 <= p.size {
		s := p.waiting[0]
		p.waiting = p.waiting[1:]
		s.seen = p.lost
		p.used += s.tokens
		p.running = append(p.running, s)
		close(s.entered)
	}
}

// grow adds a token to a sequence, and says whether it is still in.
func (p *pool) grow(s *sequence) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !s.out && p.used >= p.size {
		p.push(p.running[len(p.running)-1])
	}
	if s.out {
		return false
	}
	s.tokens++
	p.used++
	return true
}

func (p *pool) push(s *sequence) {
	p.remove(s)
	s.out = true
	p.evict()
}

func (p *pool) remove(s *sequence) {
	if i := slices.Index(p.running, s); i >= 0 {
		p.running = slices.Delete(p.running, i, i+1)
		p.used -= s.tokens
	}
}

// leave takes a sequence out for good.
func (p *pool) leave(s *sequence) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.remove(s)
	if i := slices.Index(p.waiting, s); i >= 0 {
		p.waiting = slices.Delete(p.waiting, i, i+1)
	}
	p.admit()
}

// redo notes time that a sequence needs to compute anew what it had. The card does
// nothing else meanwhile.
func (p *pool) redo(s *sequence, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost += d
	s.seen += d
}

// stood gives the time for which a sequence stood still since it last asked.
func (p *pool) stood(s *sequence) time.Duration {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	d := p.lost - s.seen
	s.seen = p.lost
	return d
}

// share is how much of the pool is in use.
func (p *pool) share() float64 {
	if p == nil {
		return 0
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return float64(p.used) / float64(p.size)
}
