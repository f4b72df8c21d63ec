package runner

import (
	"context"
	"sync"
	"time"

	"rung/sinks/record"
)

// Sampler reads the accelerator. Sample is never called by two goroutines at
// once; it fills everything of a sample but its place and its times.
type Sampler interface {
	Source() string
	Devices() []record.Device
	Sample() ([]record.Sample, error)
	Close() error
}

// sampling reads the card on a schedule that doesn't drift, and once more
// whenever it is forced to.
type sampling struct {
	r        *run
	sampler  Sampler
	interval time.Duration
	quit     chan struct{}
	done     sync.WaitGroup
	turn     turn // one reading at a time
	late     int
	lost     string
}

func newSampling(r *run, s Sampler, interval time.Duration) *sampling {
	return &sampling{r: r, sampler: s, interval: interval, quit: make(chan struct{}), turn: newTurn()}
}

func (s *sampling) start() {
	if s.sampler == nil || s.interval <= 0 {
		return
	}
	begin := time.Now()
	s.done.Go(func() {
		for n := 0; ; n++ {
			due := begin.Add(time.Duration(n) * s.interval)
			t := time.NewTimer(time.Until(due))
			select {
			case <-t.C:
			case <-s.quit:
				t.Stop()
				return
			}
			s.take(due, false)
			// A reading that took longer than the interval skips those it missed.
			if passed := int(time.Since(begin) / s.interval); passed > n {
				s.missed(passed - n)
				n = passed
			}
		}
	})
}

func (s *sampling) missed(n int) {
	s.turn.take()
	defer s.turn.give()
	if s.lost == "" {
		s.late += n
	}
}

func (s *sampling) stop() {
	close(s.quit)
	s.done.Wait()
}

// force reads the card now, beside the schedule: the end of a rung must not fall
// between two samples.
func (s *sampling) force() {
	if s.sampler != nil {
		s.take(time.Now(), true)
	}
}

// trail waits one interval after the last request and reads the card: what the
// last request took must not fall between two samples.
func (s *sampling) trail(ctx context.Context) {
	if s.sampler != nil {
		pause(ctx, s.interval)
		s.force()
	}
}

func (s *sampling) take(due time.Time, forced bool) {
	s.turn.take()
	defer s.turn.give()
	if s.lost != "" {
		return
	}
	place, now := *s.r.here.Load(), time.Now()
	samples, err := s.sampler.Sample()
	if err != nil {
		s.lost = err.Error()
		s.r.event(record.GPULost, place, func(e *record.Event) { e.Reason = s.lost })
		return
	}
	behind := now.Sub(due)
	if !forced && behind > s.interval {
		s.late++
	}
	for i := range samples {
		sample := &samples[i]
		sample.Place, sample.Time, sample.TS, sample.Forced = place, now, s.r.clock.at(now), forced
		sample.LateS = max(0, behind.Seconds())
		s.r.send(record.Item{Sample: sample})
	}
}
