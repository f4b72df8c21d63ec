package runner

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"rung/sinks/record"
	"rung/spec/plan"
)

// ErrServerGone says that the server stopped answering and stayed so.
var ErrServerGone = errors.New("server_gone: the server stopped answering and stayed so")

// run is one run under way.
type run struct {
	*Prepared
	drain      context.Context // its end: no more is sent
	abort      context.Context // its end: what is in flight is given up
	emit       func(record.Item)
	emitting   turn
	here       atomic.Pointer[record.Place]
	sampling   *sampling
	metering   *metering
	logging    *logging
	incident   int64
	cooled     bool // the next rung needs no cool-down before it
	air        air
	chunksSaid bool                  // that chunks and tokens do not go together
	clocks     map[rungKey][]float64 // median SM clock of each round that counted, in MHz

	past history
	live atomic.Bool // something was sent, or is about to be: what comes is not in the past

	idle        map[string]*record.Sample // each card in the idle time, by UUID
	baselineP95 float64                   // seconds; 0 where there was no baseline
}

// Summary is what there is to say of a run beside its records.
type Summary struct {
	Interrupted bool
	LateSamples int
	GPULost     string // why the samples ended early
	LateMetrics int
	MetricsLost string // why the server's metrics could not be read at the end
}

// Run sends the whole cell. drain's end stops the sending and lets what is in
// flight come back; abort's end gives that up too. emit is called from several
// goroutines but never by two at once, and must not block. An error means that
// the run failed; what was emitted before stays true.
func (p *Prepared) Run(drain, abort context.Context, emit func(record.Item)) (Summary, error) {
	r := &run{Prepared: p, drain: drain, abort: abort, emit: emit, emitting: newTurn(), cooled: true, clocks: map[rungKey][]float64{},
		past: p.past, idle: p.past.idle, incident: p.past.incident}
	r.live.Store(p.cfg.Past == nil)
	r.at(record.Place{})
	r.sampling = newSampling(r, p.cfg.Sampler, p.cfg.Plan.GPU.Interval.D())
	r.metering = newMetering(r, p.cfg.Metrics)
	r.logging = newLogging(r, p.cfg.Log)
	for i := range p.untouched {
		r.send(record.Item{Sample: &p.untouched[i]})
	}
	for i := range p.probes {
		r.send(record.Item{Request: &p.probes[i]})
	}
	r.begin()
	for _, w := range p.warnings {
		r.event(record.Warning, record.Place{}, func(e *record.Event) { e.Reason = w })
	}
	r.sampling.start()
	r.metering.start()
	r.logging.start()
	watching := r.watch()
	err := r.all()
	watching.stop()
	r.metering.stop()
	r.sampling.stop()
	r.logging.stop()
	s := Summary{Interrupted: r.stopped(), LateSamples: r.sampling.late, GPULost: r.sampling.lost,
		LateMetrics: r.metering.late, MetricsLost: r.metering.lost}
	if s.Interrupted {
		r.event(record.Interrupted, record.Place{}, nil)
		if errors.Is(err, context.Canceled) {
			err = nil
		}
	}
	r.event(record.RunEnd, record.Place{}, func(e *record.Event) {
		if err != nil {
			e.Reason = err.Error()
		}
	})
	return s, err
}

// begin marks the beginning of the run, or of a further part of it.
func (r *run) begin() {
	past := r.cfg.Past
	if past == nil {
		r.event(record.RunBegin, record.Place{}, nil)
		return
	}
	r.event(record.Resumed, record.Place{}, func(e *record.Event) { e.Reason = r.past.gap(e.TS, past.Elapsed.Seconds()) })
}

func (r *run) all() error {
	var gone error
	if b := r.cfg.Cell.Baseline; b != nil {
		if err := r.baseline(*b); errors.Is(err, ErrServerGone) {
			gone = err
		} else if err != nil {
			return err
		}
	}
	for i, l := range r.cfg.Cell.Ladders {
		if r.stopped() {
			return gone
		}
		if err := r.freshServer(i, gone); err == nil {
			gone = nil
		} else if gone == nil {
			return err
		}
		if gone != nil {
			r.event(record.LadderEnd, record.Place{Phase: record.Measure, Ladder: l.Name}, func(e *record.Event) { e.Reason = "server_gone" })
			continue
		}
		if err := r.ladder(l); errors.Is(err, ErrServerGone) {
			gone = err
		} else if err != nil {
			return err
		}
	}
	if gone != nil && r.cfg.Server != nil && r.freshServer(len(r.cfg.Cell.Ladders), gone) == nil {
		gone = nil
	}
	if gone != nil {
		return gone
	}
	return r.checks()
}

// freshServer starts the server again where the spec asks for it before a ladder, and
// once after it is gone. It fails where it is gone and can't be started.
func (r *run) freshServer(ladder int, gone error) error {
	s := r.cfg.Cell.Server
	asked := ladder > 0 && ladder < len(r.cfg.Cell.Ladders) && s != nil && s.Restart == plan.RestartLadder
	switch {
	case r.cfg.Server == nil:
		return gone
	case gone == nil && !r.live.Load(): // it has just been started, for this part of the run
		return nil
	case gone == nil && !asked:
		return nil
	}
	why := "before the ladder"
	if gone != nil {
		why = r.howEnded(gone)
	}
	r.event(record.RestartBegin, record.Place{}, func(e *record.Event) { e.Reason = why })
	r.sampling.learn(true)
	err := r.cfg.Server.Restart(r.drain)
	r.client.Fresh()
	r.event(record.RestartEnd, record.Place{}, func(e *record.Event) {
		if err != nil {
			e.Reason = err.Error()
		}
	})
	if err != nil && !r.stopped() {
		return fmt.Errorf("the server was started again and is not ready: %w", err)
	}
	r.cooled = true // it has just begun
	return nil
}

// baseline is silence, then single requests.
func (r *run) baseline(b plan.Baseline) error {
	place := record.Place{Phase: record.Baseline}
	v := visit{prompt: b.Prompt, shape: b.Shape, requests: b.Requests, warm: b.Warmup > 0, reruns: baselineReruns, stop: baselineStop()}
	v.stay = &stay{r: r, place: place, from: record.PhaseBegin, to: record.PhaseEnd, warm: func() (result, error) {
		r.silence(place, b.Idle.D())
		if r.stopped() {
			return result{}, nil
		}
		return r.warmup(place, b.Prompt, b.Shape, b.Warmup)
	}}
	defer v.stay.leave()
	res, err := r.round(place, v)
	if err != nil {
		return err
	}
	if res.cut {
		r.event(record.Warning, place, func(e *record.Event) {
			e.Reason = fmt.Sprintf("the baseline ended after %d of %d requests: %s", len(res.rows), b.Requests, res.rows[len(res.rows)-1].Outcome)
		})
	}
	r.baselineP95 = p95(res.rows)
	return r.checkAlive(res.sent())
}

// silence is the idle time: what the loaded model holds by itself.
func (r *run) silence(place record.Place, length time.Duration) {
	r.at(place)
	r.event(record.IdleBegin, place, nil)
	pause(r.drain, length)
	r.sampling.force()
	r.metering.force()
	r.rest()
	r.event(record.IdleEnd, place, nil)
}

// baselineStop ends a baseline whose server can't serve one request at a time:
// sixty of them, each waiting for its timeout, would take hours to say so.
func baselineStop() plan.Stop {
	return plan.Stop{Outcomes: []string{string(record.Timeout), string(record.OOM), string(record.CUDAError), string(record.Reset), string(record.Refused)}}
}

// baselineReruns is how often a refused baseline is sent again.
const baselineReruns = 3

// warmup sends requests at the shape that follows: recorded, never counted. A
// timeout ends them early: the round shows it too, and each more would wait as long.
func (r *run) warmup(at record.Place, pr plan.Prompt, shape plan.Shape, n int) (result, error) {
	return r.warm(order{place: r.warmupsOf(at), prompt: pr, shape: shape, n: n})
}

func (r *run) warm(o order) (result, error) {
	if o.n == 0 {
		return result{}, nil
	}
	s, err := r.supply(r.drain, o)
	if err != nil {
		return result{}, err
	}
	r.at(o.place)
	res := r.flight(o.place, o.shape, o.n, func(o record.Outcome) bool { return o == record.Timeout }).closedLoop(s, 0)
	r.blame(res.rows)
	r.incidents(res.rows)
	r.rows(res.rows, "warmup")
	return res, s.close()
}

// rows gives out a round's requests with its verdict.
func (r *run) rows(rows []record.Request, reason string) {
	for i := range rows {
		rows[i].Counted, rows[i].RejectReason = reason == "", reason
		if rows[i].ResetIdle && reason == "" {
			rows[i].Counted, rows[i].RejectReason = false, "sent again"
		}
		r.send(record.Item{Request: &rows[i]})
	}
	r.compareChunks(rows)
}

// compareChunks says once in a run that streams have more chunks with text than the
// server counted tokens. A chunk is no token, and the server's count is what is used.
func (r *run) compareChunks(rows []record.Request) {
	for _, row := range rows {
		if !r.chunksSaid && row.Outcome == record.OK && row.Chunks != nil && row.OutputTokens != nil && *row.Chunks > *row.OutputTokens {
			r.chunksSaid = true
			r.event(record.Warning, row.Place, func(e *record.Event) {
				e.Reason = fmt.Sprintf("an answer came in %d chunks with text, and its usage has %d output tokens: the usage is what counts", *row.Chunks, *row.OutputTokens)
			})
		}
	}
}

func (r *run) roundEnd(place record.Place, v visit, res result, reason string) {
	r.event(record.RoundEnd, place, func(e *record.Event) {
		round := record.RoundOf(res.rows)
		w := round.SteadyWindow()
		length, wall, mean := w.Len(), round.WallS(), round.MeanInFlight(w)
		ok, failed := 0, 0
		for _, row := range res.rows {
			switch {
			case row.Outcome == record.OK:
				ok++
			case row.Failed():
				failed++
			}
		}
		e.WindowS, e.WallS, e.MeanInFlight, e.OK, e.Failed = &length, &wall, &mean, &ok, &failed
		e.Verdict, e.Reason = record.Accepted, reason
		if reason != "" {
			e.Verdict = record.Rejected
		} else {
			e.Reason = v.short(res.rows, w)
		}
	})
}

// How often a server that broke off is asked again, how far apart, and how long
// it has for an answer: one that only takes connections is gone too.
const (
	aliveTries   = 5
	alivePause   = time.Second
	aliveTimeout = 5 * time.Second
)

// checkAlive asks a server that broke connections, ran out of memory, or let requests
// wait until their time was up, whether it is still there. It is ErrServerGone where it
// stays away.
func (r *run) checkAlive(rows []record.Request) error {
	switch rows = own(rows); {
	case has(rows, record.Reset), has(rows, record.Refused), has(rows, record.OOM):
		return r.awaitServer(false)
	case has(rows, record.Timeout):
		// A server that stops can hold its open connections and say nothing more; one
		// that is busy may not answer either, but still takes new ones.
		return r.awaitServer(true)
	default:
		return nil
	}
}

// awaitServer asks the server a few times. It is nil as soon as it answers, or
// where the run is to stop. busy says that one which takes the connection and has
// no answer yet is there too.
func (r *run) awaitServer(busy bool) error {
	for i := range aliveTries {
		if i > 0 && !pause(r.drain, r.alivePause) {
			return nil
		}
		err := r.ping()
		if err == nil || r.stopped() || busy && errors.Is(err, context.DeadlineExceeded) {
			return nil
		}
	}
	return fmt.Errorf("%w (asked %d times at %s)", ErrServerGone, aliveTries, r.client.Shown())
}

func (r *run) ping() error {
	ctx, cancel := context.WithTimeout(r.drain, aliveTimeout)
	defer cancel()
	return r.client.Ping(ctx)
}

// stopped says that no more is to be sent.
func (r *run) stopped() bool { return r.drain.Err() != nil || r.abort.Err() != nil }

// at says where the run is now, for the samples: those that were read before belong to
// where it was.
func (r *run) at(p record.Place) {
	if r.sampling != nil { // where the run has begun
		r.sampling.collect()
	}
	r.here.Store(&p)
}

func (r *run) send(it record.Item) {
	r.emitting.take()
	defer r.emitting.give()
	r.emit(it)
}

func (r *run) event(kind record.EventKind, place record.Place, fill func(*record.Event)) {
	now := time.Now()
	e := &record.Event{Place: place, Time: now, TS: r.clock.at(now), Kind: kind}
	if fill != nil {
		fill(e)
	}
	if r.past.told(*e, r.live.Load()) {
		return
	}
	r.send(record.Item{Event: e})
}
