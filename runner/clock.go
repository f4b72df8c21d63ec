package runner

import (
	"context"
	"time"
)

// clock is a run's: seconds since it began, on the monotonic clock.
type clock struct{ start time.Time }

func (c clock) at(t time.Time) float64 { return t.Sub(c.start).Seconds() }

// pause waits, or less where the context ends. It says whether it waited to the end.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// turn is a lock. It is a channel and no sync.Mutex, so that in a test in virtual
// time the clock goes on while one waits for it.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

func (t turn) take() { t <- struct{}{} }

func (t turn) give() { <-t }
