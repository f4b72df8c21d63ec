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
	last  time.Time // of the beats
	worst time.Duration
	quit  chan struct{}
	done  chan struct{}
}

// NewHeart begins to beat.
func NewHeart() *Heart {
	h := &Heart{last: time.Now(), quit: make(chan struct{}), done: make(chan struct{})}
	go h.beat()
	return h
}

func (h *Heart) beat() {
	defer close(h.done)
	t := time.NewTicker(beat)
	defer t.Stop()
	for {
		select {
		case <-t.C:
		case <-h.quit:
			return
		}
		now := time.Now()
		h.mu.Lock()
		h.worst = max(h.worst, now.Sub(h.last)-beat)
		h.last = now
		h.mu.Unlock()
	}
}

// Worst is the longest that a beat was late since the last question; one that is due and
// has not come yet is late too.
func (h *Heart) Worst() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := max(h.worst, time.Since(h.last)-beat)
	h.worst = 0
	return w
}

// Stop ends it.
func (h *Heart) Stop() {
	close(h.quit)
	<-h.done
}
