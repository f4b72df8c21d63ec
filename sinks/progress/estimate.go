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
	seen   int // its requests that have ended
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
	length   time.Duration // of all rounds, where that is planned and not their requests
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
	first := true
	for _, l := range c.Ladders {
		for _, p := range l.Passes {
			for _, i := range p.Order {
				r := l.Rungs[i]
				v := visit{key: rungKey{l.Name, i}, pass: p.Index,
					requests: r.Warmup + r.Rounds*r.Requests, inFlight: r.Shape.InFlight, pause: l.Cooldown.D(), length: time.Duration(r.Rounds) * r.Duration.D()}
				if first {
					v.pause, first = 0, false // nothing was sent before it that it must cool from
				}
				e.visits = append(e.visits, v)
			}
		}
	}
	return e
}

// see counts a request of the visit under way.
func (e *estimate) see(t record.Tick) {
	if t.Phase != record.Confirm && e.at < len(e.visits) && e.visits[e.at].is(t.Place) {
		e.seen++
	}
}

func (v visit) is(p record.Place) bool {
	return v.key == rungKey{p.Ladder, p.Rung} && (p.Ladder == "" || v.pass == p.Pass)
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
		if e.visits[i].is(p) {
			e.at, e.seen = i+1, 0
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

// recall takes over what an earlier part of the run had done.
func (e *estimate) recall(event record.Event) {
	switch event.Kind {
	case record.RungEnd, record.PhaseEnd:
		e.done(event.Place)
	case record.EdgeFound:
		e.edge(event.Place)
	default:
	}
}

func (e *estimate) ladderEnd(ladder string) {
	for e.at < len(e.visits) && e.visits[e.at].key.ladder == ladder {
		e.at, e.seen = e.at+1, 0
	}
}

// left is the time for what is still to come, the rest of the visit under way
// included; false before anything was measured.
func (e *estimate) left() (time.Duration, bool) {
	if e.last == 0 {
		return 0, false
	}
	var total time.Duration
	for i := e.at; i < len(e.visits); i++ {
		v := e.visits[i]
		if v.skipped {
			continue
		}
		if i == e.at && e.seen > 0 { // its pause is over
			v.pause, v.requests = 0, max(0, v.requests-e.seen)
		}
		latency := e.last
		if m := e.mean[v.key]; m != nil {
			latency = m.sum / float64(m.n)
		}
		total += v.pause + v.length + time.Duration(float64(v.requests)*latency/float64(max(1, v.inFlight))*float64(time.Second))
	}
	return total, true
}
