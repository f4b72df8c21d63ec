package main

import (
	"context"
)

// stopper is a context that its owner can end.
type stopper struct {
	context.Context
	cancel context.CancelFunc
}

// interruptible gives the two contexts of a run: the first interrupt ends drain,
// the second abort.
func (a *app) interruptible(ctx context.Context) (drain, abort *stopper, stop func()) {
	abort = newStopper(ctx)
	drain = newStopper(abort)
	quit := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			select {
			case <-a.interrupts:
			case <-quit:
				return
			}
			if n == 0 {
				a.say("\ninterrupted: waiting for what is in flight; once more gives that up")
				drain.cancel()
				continue
			}
			abort.cancel()
		}
	}()
	return drain, abort, func() { close(quit); drain.cancel(); abort.cancel() }
}

func newStopper(parent context.Context) *stopper {
	ctx, cancel := context.WithCancel(parent)
	return &stopper{ctx, cancel}
}
