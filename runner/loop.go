package runner

import (
	"sync"
	"sync/atomic"
	"time"

	"rung/runner/pace"
)

// closedLoop sends calls with the shape's number of them in flight until there are no
// more or the time is up (0: none is set), an outcome trips, or the run is to stop. It
// returns when the last has come back.
func (f *flight) closedLoop(s *supply, length time.Duration) result {
	var dry atomic.Bool
	begin := time.Now()
	over := func() bool { return length > 0 && time.Since(begin) >= length }
	var senders sync.WaitGroup
	for range f.shape.InFlight {
		senders.Go(func() {
			for !f.stopped() && !over() {
				c, ok := <-s.calls
				if !ok {
					dry.Store(length > 0)
					return
				}
				if over() {
					return // it was waited for too long: the time is up
				}
				f.send(c, time.Time{})
			}
		})
	}
	senders.Wait()
	res := f.land()
	res.dry = dry.Load() && !res.cut
	return res
}

// openLoop sends each call when it is due, whatever is in flight by then; where as
// many are as may be, it is dropped. It returns when the last has come back.
func (f *flight) openLoop(s *supply, due []time.Duration) result {
	f.open = true
	var senders sync.WaitGroup
	places := make(chan struct{}, f.shape.InFlight)
	begin := time.Now()
	for _, offset := range due {
		c, ok := <-s.calls
		if !ok || !f.until(begin.Add(offset)) {
			break
		}
		at := begin.Add(offset)
		select {
		case places <- struct{}{}:
			senders.Go(func() {
				f.send(c, at)
				<-places
			})
		default:
			f.drop(c, at)
		}
	}
	senders.Wait()
	return f.land()
}

// until waits for a point in time. It says whether it came before the sending was to
// stop.
func (f *flight) until(at time.Time) bool {
	const step = 100 * time.Millisecond // how long a stop may go unseen
	for {
		d := time.Until(at)
		if f.stopped() {
			return false
		}
		switch {
		case d <= 0:
			return true
		case d <= pace.Fine && f.r.cfg.Dial == nil: // in virtual time timers are exact
			pace.Sleep(d)
		case !pause(f.r.drain, min(d-f.r.coarse(), step)):
			return false
		}
	}
}

// coarse is how long before a point in time its timer must fire, that the rest can be
// waited for exactly.
func (r *run) coarse() time.Duration {
	if r.cfg.Dial != nil {
		return 0
	}
	return pace.Fine
}
