package runner

import (
	"context"
	"sync"
	"time"

	"rung/runner/pace"
	"rung/sinks/record"
)

// MetricsReader reads the server's own page of metrics. Read is never called by two
// goroutines at once; it fills everything of a sample but its place and its times, and
// an error says that this reading failed, not that the next one will.
type MetricsReader interface {
	Read(ctx context.Context) ([]record.ServerSample, error)
}

// A reading is given up after metricsPatience intervals, and never later than
// mostMetrics: a server that is busy must not be asked while it still answers.
const (
	metricsPatience = 5
	mostMetrics     = 5 * time.Second
)

// metering reads the server's metrics on a schedule of its own, and whenever it is
// forced to. A page that fails is a gap and ends nothing.
type metering struct {
	r        *run
	reader   MetricsReader
	interval time.Duration
	ctx      context.Context // its end gives up the reading under way
	cancel   context.CancelFunc
	done     sync.WaitGroup
	turn     turn // one reading at a time
	late     int
	lost     string // why the last reading failed; empty where it did not
}

func newMetering(r *run, reader MetricsReader) *metering {
	m := &metering{r: r, reader: reader, turn: newTurn()}
	if p := r.cfg.Plan.Metrics; p != nil {
		m.interval = p.Interval.D()
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	return m
}

func (m *metering) start() {
	if m.reader == nil || m.interval <= 0 {
		return
	}
	m.done.Go(func() {
		pace.Every(m.interval, m.ctx.Done(), func(due time.Time) bool {
			m.take(due, false)
			return true
		}, m.missed)
	})
}

func (m *metering) stop() {
	m.cancel()
	m.done.Wait()
}

func (m *metering) missed(n int) {
	m.turn.take()
	defer m.turn.give()
	m.late += n
}

// force reads the page now, beside the schedule: the counters at the end of a rung are
// those at the beginning of the next. A page that can't be read is left to the
// schedule, which holds up nothing.
func (m *metering) force() {
	if m.reader == nil {
		return
	}
	m.turn.take()
	lost := m.lost != ""
	m.turn.give()
	if !lost {
		m.take(time.Now(), true)
	}
}

func (m *metering) take(due time.Time, forced bool) {
	m.turn.take()
	defer m.turn.give()
	place, now := *m.r.here.Load(), time.Now()
	ctx, cancel := context.WithTimeout(m.ctx, min(mostMetrics, metricsPatience*m.interval))
	defer cancel()
	samples, err := m.reader.Read(ctx)
	switch {
	case err != nil && m.ctx.Err() != nil:
		return // the run is over
	case err != nil:
		m.gap(place, err.Error())
		return
	case m.lost != "":
		m.lost = ""
		m.r.event(record.MetricsBack, place, nil)
	}
	behind := now.Sub(due)
	if !forced && behind > m.interval {
		m.late++
	}
	for i := range samples {
		s := &samples[i]
		s.Place, s.Time, s.TS, s.Forced = place, now, m.r.clock.at(now), forced
		s.LateS = max(0, behind.Seconds())
		m.r.send(record.Item{Server: s})
	}
}

// gap says once why there are no readings.
func (m *metering) gap(place record.Place, why string) {
	if m.lost == "" {
		m.r.event(record.MetricsLost, place, func(e *record.Event) { e.Reason = why })
	}
	m.lost = why
}
