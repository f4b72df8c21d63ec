package runner

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"rung/runner/pace"
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

// SelfPaced is a Sampler that keeps the schedule itself, where to be asked each time costs
// more than the reading. Its samples have their times, and their lateness.
type SelfPaced interface {
	Sampler
	// Start reads each interval until Stop. take gets each reading, in order and maybe a
	// while after it was made, and how many of the schedule were left out before it; ended
	// is told why there will be no more.
	Start(interval time.Duration, take func(samples []record.Sample, missed int), ended func(error)) error
	// Collect returns when all that was read so far has been taken.
	Collect()
	// Stop ends the schedule, when all that was read has been taken.
	Stop()
}

// sampling reads the card on a schedule that doesn't drift, and once more
// whenever it is forced to.
type sampling struct {
	r        *run
	sampler  Sampler
	interval time.Duration
	quit     chan struct{}
	done     sync.WaitGroup
	reading  turn // one at a time
	turn     turn // of what follows
	late     int
	lost     string
	last     map[string]*record.Sample
	learning bool           // what computes on the card now is the server's
	known    map[int64]bool // pids of it
	recent   []reading      // of the last minutes, in order
}

// reading is what the admission of a round needs of a sample.
type reading struct {
	ts    float64
	bits  int64   // throttle reasons
	clock float64 // SM, MHz; 0: not known
	other int64   // pid of a process that is not the server's; 0: none
}

// leastClocks is how many readings make a median worth a verdict.
const leastClocks = 3

// recentReadings bounds how many are kept: an hour at five a second, of one card.
const recentReadings = 18_000

// during gives the throttle reasons of all samples in a span of the run's clock, and
// their median SM clock, 0 where it is not known.
func (s *sampling) during(from, to float64) (bits int64, clock float64) {
	s.collect()
	s.turn.take()
	defer s.turn.give()
	var clocks []float64
	for _, r := range s.recent {
		if r.ts < from || r.ts > to {
			continue
		}
		bits |= r.bits
		if r.clock > 0 {
			clocks = append(clocks, r.clock)
		}
	}
	if len(clocks) < leastClocks {
		return bits, 0
	}
	slices.Sort(clocks)
	return bits, record.Quantile(clocks, 0.5)
}

// latest is the last sample of each card, by UUID.
func (s *sampling) latest() map[string]*record.Sample {
	s.collect()
	s.turn.take()
	defer s.turn.give()
	return maps.Clone(s.last)
}

// learn takes what computes on the card from now on for the server's, or no longer.
func (s *sampling) learn(yes bool) {
	s.collect()
	s.turn.take()
	defer s.turn.give()
	s.learning = yes
}

// other is a process that computed on the card in a span of the run's clock and is not
// the server's; 0 where none was seen.
func (s *sampling) other(from, to float64) int64 {
	s.collect()
	s.turn.take()
	defer s.turn.give()
	for _, r := range s.recent {
		if r.other != 0 && r.ts >= from && r.ts <= to {
			return r.other
		}
	}
	return 0
}

// keep notes a sample for the admission of rounds.
func (s *sampling) keep(sample record.Sample) {
	s.last[sample.UUID] = &sample
	r := reading{ts: sample.TS}
	if sample.ThrottleReasons != nil {
		r.bits = *sample.ThrottleReasons
	}
	if sample.SMClockMHz != nil {
		r.clock = *sample.SMClockMHz
	}
	for _, pid := range sample.Processes {
		if s.learning {
			s.known[pid] = true
		} else if !s.known[pid] {
			r.other = pid
		}
	}
	if len(s.recent) == recentReadings {
		s.recent = slices.Delete(s.recent, 0, recentReadings/2)
	}
	s.recent = append(s.recent, r)
}

func newSampling(r *run, s Sampler, interval time.Duration) *sampling {
	return &sampling{r: r, sampler: s, interval: interval, quit: make(chan struct{}), reading: newTurn(), turn: newTurn(), last: map[string]*record.Sample{}, learning: true, known: map[int64]bool{}}
}

func (s *sampling) start() {
	if s.interval <= 0 {
		return
	}
	switch card := s.sampler.(type) {
	case nil:
	case SelfPaced:
		if err := card.Start(s.interval, s.paced, s.lose); err != nil {
			s.lose(err)
		}
	default:
		s.done.Go(func() {
			pace.Every(s.interval, s.quit, func(due time.Time) bool {
				s.take(due, false)
				return true
			}, s.missed)
		})
	}
}

func (s *sampling) missed(n int) {
	s.turn.take()
	defer s.turn.give()
	if s.lost == "" {
		s.late += n
	}
}

func (s *sampling) stop() {
	if card, ok := s.sampler.(SelfPaced); ok {
		card.Stop()
	}
	close(s.quit)
	s.done.Wait()
}

// collect sees that nothing of what the card was read for until now is still to come.
func (s *sampling) collect() {
	if card, ok := s.sampler.(SelfPaced); ok {
		card.Collect()
	}
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

// take reads the card now.
func (s *sampling) take(due time.Time, forced bool) {
	s.reading.take()
	defer s.reading.give()
	if s.over() {
		return
	}
	place, now := *s.r.here.Load(), time.Now()
	samples, err := s.sampler.Sample()
	if err != nil {
		s.lose(err)
		return
	}
	_, paced := s.sampler.(SelfPaced)
	for i := range samples {
		samples[i].Forced = forced
		if !paced {
			samples[i].Time, samples[i].LateS = now, max(0, now.Sub(due).Seconds())
		}
	}
	s.put(place, samples)
}

// paced takes a reading that the card made by itself.
func (s *sampling) paced(samples []record.Sample, missed int) {
	s.missed(missed)
	s.put(*s.r.here.Load(), samples)
}

// put gives out one reading.
func (s *sampling) put(place record.Place, samples []record.Sample) {
	s.turn.take()
	defer s.turn.give()
	if s.lost != "" {
		return
	}
	if len(samples) > 0 && !samples[0].Forced && samples[0].LateS > s.interval.Seconds() {
		s.late++
	}
	for i := range samples {
		sample := &samples[i]
		sample.Place, sample.TS = place, s.r.clock.at(sample.Time)
		s.keep(*sample)
		s.r.send(record.Item{Sample: sample})
	}
}

func (s *sampling) over() bool {
	s.turn.take()
	defer s.turn.give()
	return s.lost != ""
}

// lose ends the samples.
func (s *sampling) lose(err error) {
	s.turn.take()
	defer s.turn.give()
	if s.lost == "" {
		s.lost = err.Error()
		s.r.event(record.GPULost, *s.r.here.Load(), func(e *record.Event) { e.Reason = s.lost })
	}
}
