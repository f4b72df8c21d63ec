package runner

import (
	"fmt"
	"math"
	"slices"
	"time"

	"rung/runner/pace"
	"rung/sinks/record"
	"rung/spec/plan"
)

// visit is what is sent at one place, round after round.
type visit struct {
	prompt plan.Prompt
	shape  plan.Shape
	reruns int
	stop   plan.Stop
	before plan.Tally // of the rung's earlier rounds
	warm   bool       // a request that follows a long gap is a warm-up

	requests int           // of each round; 0: as many as fit into duration
	duration time.Duration // of each round
	rate     float64       // open loop: requests due a second
	arrivals string
	stay     *stay // at whose place it is
}

// visitOf is a rung of a ladder.
func visitOf(l plan.Ladder, rung plan.Rung) visit {
	v := visit{prompt: l.Prompt, shape: rung.Shape, requests: rung.Requests, duration: rung.Duration.D(), reruns: l.Reruns, stop: l.Stop, warm: rung.Warmup > 0}
	if l.Axis == plan.AxisRate {
		v.rate, v.arrivals = rung.Value, l.Arrivals
	}
	return v
}

// trips gives the rule that ends a round's sending: an outcome that the stop rule
// names, or a timeout after which the ratio is exceeded whatever the rest brings:
// a server that hangs would else hold each round for all its timeouts. Failures that
// come quickly are let run, for their ratio's sake. It is asked once for each
// request, by one goroutine at a time. Of a round whose number of requests is not
// known before, only outcomes end it.
func (v visit) trips(planned int) func(record.Outcome) bool {
	t := plan.Tally{Total: v.before.Total + planned, Failures: v.before.Failures}
	return func(o record.Outcome) bool {
		if o.ServerFailure() {
			t.Failures++
		}
		return v.stop.TripsAtOnce(string(o)) || planned > 0 && o == record.Timeout && v.stop.Edge(t) != ""
	}
}

// round sends one round until it is admitted, its budget is spent, an outcome
// cut it, or the run is drained. It returns the rows of all attempts.
func (r *run) round(place record.Place, v visit) (all result, err error) {
	for spent := 0; spent <= v.reruns; place.Attempt++ {
		if p := r.past.rounds[place]; p != nil {
			if all.recall(p, v) {
				break
			}
			if !p.wasted() {
				spent++
			}
			continue
		}
		if err := v.stay.arrive(); err != nil || r.stopped() {
			return all, err
		}
		spent++
		res, planned, err := r.attempt(place, v)
		if err != nil {
			return all, err
		}
		r.blame(res.rows)
		r.incidents(res.rows)
		reason := r.admit(place, v, res, planned)
		r.rows(res.rows, reason)
		r.roundEnd(place, v, res, reason)
		all.rows = append(all.rows, res.rows...)
		all.cut = all.cut || res.cut
		if reason == "" {
			all.counted = append(all.counted, res.rows)
		}
		r.obey(place, res.rows)
		if reason == "" || res.cut || r.stopped() {
			break
		}
	}
	return all, nil
}

// attempt sends a round once. planned is the number of requests that it was to have;
// 0 where its length alone is planned.
func (r *run) attempt(place record.Place, v visit) (res result, planned int, err error) {
	o := order{place: place, prompt: v.prompt, shape: v.shape, n: v.requests}
	var due []time.Duration
	switch {
	case v.rate > 0:
		if due, err = r.dueOffsets(place, v); err != nil {
			return res, 0, err
		}
		o.n = len(due)
	case v.requests == 0 && v.duration > 0:
		o.n = r.enough(v, place.Attempt)
	}
	if o.n == 0 { // at a low rate it may be that none is due
		r.event(record.RoundBegin, place, nil)
		return res, 0, nil
	}
	planned = max(0, o.n)
	if v.requests == 0 && v.rate == 0 {
		planned = 0
	}
	s, err := r.supply(r.drain, o)
	if err != nil {
		return res, planned, err
	}
	if err := r.rewarm(o, v); err != nil {
		return res, planned, err
	}
	r.at(place)
	if place.Phase != record.Baseline {
		r.sampling.learn(false)
	}
	r.event(record.RoundBegin, place, nil)
	before, counted := r.cacheCounter()
	f, watched := r.flight(place, v.shape, planned, v.trips(planned)), r.watched()
	if v.rate > 0 {
		res = f.openLoop(s, due)
	} else {
		res = f.closedLoop(s, v.duration)
	}
	res.busy = watched(res.rows)
	if after, ok := r.cacheCounter(); ok && counted && after >= before {
		hits := after - before
		res.hits = &hits
	}
	return res, planned, s.close()
}

// cacheCounter reads the server's count of cached tokens, where it is needed.
func (r *run) cacheCounter() (n float64, ok bool) {
	if !r.counter {
		return 0, false
	}
	return r.client.CachedTokens(r.abort)
}

// maxDue bounds the requests of one round.
const maxDue = 10_000_000

// dueOffsets are those of an open loop's round, from the seed and the place alone.
func (r *run) dueOffsets(place record.Place, v visit) ([]time.Duration, error) {
	seed := r.cfg.Plan.Draw(plan.Key{Phase: "arrivals", Ladder: place.Ladder, Pass: place.Pass, Rung: place.Rung, Round: place.Round, Attempt: place.Attempt}, 0)
	p, err := pace.New(v.arrivals, v.rate, seed)
	if err != nil {
		return nil, err
	}
	return p.Until(v.duration, maxDue), nil
}

// enough is how many requests to make for a round of a given length: no end of them
// where they are ids, which are made beside the sending. Texts, for which the server
// has to be asked, are made before; how many are needed is a guess from the warm-ups,
// which each attempt doubles.
func (r *run) enough(v visit, attempt int) int {
	const most = 1 << 20
	if r.materials[v.prompt.Name].ids != nil {
		return -1
	}
	least := 2 * v.shape.InFlight
	if v.stay.quickest <= 0 {
		return least << min(attempt, 10)
	}
	n := 1.5 * v.duration.Seconds() / v.stay.quickest * float64(v.shape.InFlight) * math.Exp2(float64(attempt))
	return max(least, int(min(n, most)))
}

// longGap is how long a server may lie idle before it slows down: clocks fall, and
// caches go.
const longGap = 5 * time.Second

// rewarm sends one request after a long gap, so that what the gap cost is in no
// round. The rung's own warm-ups came before.
func (r *run) rewarm(o order, v visit) error {
	if !v.warm || r.air.idle() <= longGap || r.stopped() {
		return nil
	}
	o.place.Phase, o.n, o.keyed = record.Warmup, 1, "rewarm"
	_, err := r.warm(o)
	return err
}

// longestWait bounds how long a server's Retry-After is obeyed.
const longestWait = time.Minute

// obey waits as long as a server asked for that refuses work, between two rounds and
// never within one. It is said in an event.
func (r *run) obey(place record.Place, rows []record.Request) {
	longest := 0.0
	for _, row := range rows {
		if row.RetryAfterS != nil {
			longest = max(longest, *row.RetryAfterS)
		}
	}
	if longest == 0 || r.stopped() {
		return
	}
	d := min(longestWait, time.Duration(longest*float64(time.Second)))
	r.event(record.Warning, place, func(e *record.Event) {
		e.Reason = fmt.Sprintf("waited %s between rounds: the server asked for %gs (Retry-After)", d, longest)
	})
	pause(r.drain, d)
}

// latencies are those of the successes, rising.
func latencies(rows []record.Request) []float64 {
	var out []float64
	for _, row := range rows {
		if row.Outcome == record.OK {
			out = append(out, row.LatencyS())
		}
	}
	slices.Sort(out)
	return out
}

// p95 is that of the successes' latency; 0 where there are none.
func p95(rows []record.Request) float64 {
	if l := latencies(rows); len(l) > 0 {
		return record.Quantile(l, 0.95)
	}
	return 0
}
