package progress

import (
	"time"

	"rung/sinks/record"
	"rung/spec/plan"
)

// estimate says how long a run may still take: the pauses are known from the
// plan, the requests are taken to last as long as those seen at the same rung or,
// before any was seen there, at the last rung that was.
type estimate struct {
	visits []visit
	at     int // the visit under way
	mean   map[rungKey]*mean
	last   float64 // mean latency of what was measured last, in seconds
}

type rungKey struct {
	ladder string
	rung   int
}

// visit is one stop of the run: the baseline (ladder "") or one rung in one pass.
type visit struct {
	key      rungKey
	pass     int
	requests int
	inFlight int
	pause    time.Duration
	skipped  bool
}

type mean struct {
	sum float64
	n   int
}

func newEstimate(c plan.Cell) *estimate {
	e := &estimate{mean: map[rungKey]*mean{}}
	if b := c.Baseline; b != nil {
		e.visits = append(e.visits, visit{requests: b.Warmup + b.Requests, inFlight: 1, pause: b.Idle.D()})
	}
	for _, l := range c.Ladders {
		for _, p := range l.Passes {
			for _, i := range p.Order {
				r := l.Rungs[i]
				e.visits = append(e.visits, visit{key: rungKey{l.Name, i}, pass: p.Index,
					requests: r.Warmup + r.Rounds*r.Requests, inFlight: r.Shape.InFlight, pause: l.Cooldown.D()})
			}
		}
	}
	return e
}

func (e *estimate) learn(t record.Tick) {
	k := rungKey{t.Ladder, t.Rung}
	m := e.mean[k]
	if m == nil {
		m = &mean{}
		e.mean[k] = m
	}
	m.sum += t.LatencyS
	m.n++
	e.last = m.sum / float64(m.n)
}

// done moves behind the visit of a place.
func (e *estimate) done(p record.Place) {
	for i := e.at; i < len(e.visits); i++ {
		if e.visits[i].key == (rungKey{p.Ladder, p.Rung}) && (p.Ladder == "" || e.visits[i].pass == p.Pass) {
			e.at = i + 1
			return
		}
	}
}

// edge drops what lies at and above an edge.
func (e *estimate) edge(p record.Place) {
	for i := range e.visits {
		if v := &e.visits[i]; v.key.ladder == p.Ladder && v.key.rung >= p.Rung {
			v.skipped = true
		}
	}
}

func (e *estimate) ladderEnd(ladder string) {
	for e.at < len(e.visits) && e.visits[e.at].key.ladder == ladder {
		e.at++
	}
}

// left is the time for what is still to come, the visit under way included
// whole; false before anything was measured.
func (e *estimate) left() (time.Duration, bool) {
	if e.last == 0 {
		return 0, false
	}
	var total time.Duration
	for _, v := range e.visits[min(e.at, len(e.visits)):] {
		if v.skipped {
			continue
		}
		latency := e.last
		if m := e.mean[v.key]; m != nil {
			latency = m.sum / float64(m.n)
		}
		total += v.pause + time.Duration(float64(v.requests)*latency/float64(v.inFlight)*float64(time.Second))
	}
	return total, true
}
