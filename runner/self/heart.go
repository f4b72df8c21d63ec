package self

import (
	"sync"
	"time"
)

// beat is how often the heart beats. A gap between two beats is one in which nothing
// of this process ran on time.
const beat = 50 * time.Millisecond

// Heart notices the stalls of the process itself: another one that takes all cores,
// a machine that sleeps.
type Heart struct {
	mu    sync.Mutex
	worst time.Duration
	quit  chan struct{}
	done  chan struct{}
}

// NewHeart begins to beat.
func NewHeart() *Heart {
	h := &Heart{quit: make(chan struct{}), done: make(chan struct{})}
	go h.beat()
	return h
}

func (h *Heart) beat() {
	defer close(h.done)
	t := time.NewTicker(beat)
	defer t.Stop()
	last := time.Now()
	for {
		select {
		case <-t.C:
		case <-h.quit:
			return
		}
		now := time.Now()
		h.mu.Lock()
		h.worst = max(h.worst, now.Sub(last)-beat)
		h.mu.Unlock()
		last = now
	}
}

// Worst is the longest that a beat was late since the last question.
func (h *Heart) Worst() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := h.worst
	h.worst = 0
	return w
}

// Stop ends it.
func (h *Heart) Stop() {
	close(h.quit)
	<-h.done
}
