package resultstest

import (
	"slices"
	"time"

	"rung/sinks/record"
	"rung/spec/plan"
)

// open is an open loop: requests come when they are due, whatever is in flight, up to
// the rung's cap.
func (b *builder) open(p record.Place, rung plan.Rung) []record.Request {
	begin, shape := b.t, rung.Shape
	slots := make([]float64, b.Slots)
	for i := range slots {
		slots[i] = begin
	}
	outcome, every := b.Fails(shape)
	end := begin + rung.Duration.Seconds()
	var rows []record.Request
	var ends []float64
	for i := 0; float64(i)/rung.Value < rung.Duration.Seconds(); i++ {
		due := begin + float64(i)/rung.Value
		ends = slices.DeleteFunc(ends, func(t float64) bool { return t <= due })
		if len(ends) >= shape.InFlight {
			r := b.request(p, shape, i, 0, 0)
			r.DueTS, r.Outcome, r.Status, r.InputTokens, r.OutputTokens, r.InputsDone, r.FirstTokenTS, r.Time = due, record.Dropped, nil, nil, nil, 0, nil, time.Time{}
			rows = append(rows, r)
			continue
		}
		s := least(slots)
		sent := due + 0.0002
		done := max(sent, slots[s]) + b.Service(shape)*(1+b.Noise*b.rng.NormFloat64())
		slots[s], ends, end = done, append(ends, done), max(end, done)
		r := b.request(p, shape, i, sent, done)
		r.DueTS = due
		if every > 0 && i%every == every-1 {
			fail(&r, outcome)
		}
		rows = append(rows, r)
	}
	b.taken = max(b.taken, min(b.Used(shape), 23*GiB))
	b.until(end, p)
	b.keep(rows)
	return rows
}

// stream lets an answer come in chunks of one token, the first after a fifth of the
// time that the server worked on it.
func stream(r *record.Request, service float64) {
	first := r.DoneTS - 0.8*service
	r.FirstTokenTS = &first
	n := 1
	if r.OutputTokens != nil {
		n = *r.OutputTokens
	}
	r.Chunks = &n
	for range n - 1 {
		r.ChunkGapsS = append(r.ChunkGapsS, (r.DoneTS-first)/float64(n-1))
	}
}

// slow says what the runner would, after a round at a rung of a server of embeddings.
func (b *builder) slow(l plan.Ladder, rung int) string {
	best := 0.0
	for i := range rung {
		best = max(best, b.paces[i].Throughput(false))
	}
	p := &b.paces[rung]
	if len(p.Latencies) == 0 {
		return ""
	}
	return l.Stop.Slow(plan.Pace{
		Done: len(p.Latencies), P95: p.P95(), BaselineP95: b.single, Throughput: p.Throughput(false), BestBelow: best,
	})
}

// restart starts the server again, which gives back what it took.
func (b *builder) restart() {
	b.event(record.RestartBegin, record.Place{}, func(e *record.Event) { e.Reason = "before the ladder" })
	b.taken = b.Idle
	b.until(b.t+5, record.Place{})
	b.event(record.RestartEnd, record.Place{}, nil)
	b.until(b.t+0.1, record.Place{})
}

// checks sends the retests and the confirmation at the limits that were given.
func (b *builder) checks() {
	for _, t := range b.Retests {
		l, rung := b.rungAt(t.Ladder)
		p := record.Place{Phase: record.Retest, Ladder: l.Name, Rung: rung.Index, Value: rung.Value}
		shape := rung.Shape
		shape.InputTokens, shape.OutputTokens = t.Tokens, t.Output
		b.check(p, shape, t.Warmup, t.Requests)
	}
	if c := b.Confirm; c != nil {
		shape := plan.Shape{Batch: 1, InputTokens: c.Tokens, OutputTokens: c.Output, InFlight: 1}
		for _, l := range b.Ladders {
			_, rung := b.rungAt(l.Name)
			shape.Batch, shape.InFlight = max(shape.Batch, rung.Shape.Batch), max(shape.InFlight, rung.Shape.InFlight)
		}
		b.check(record.Place{Phase: record.Confirm}, shape, c.Warmup, c.Requests)
	}
}

func (b *builder) rungAt(ladder string) (plan.Ladder, plan.Rung) {
	for _, l := range b.Ladders {
		for _, r := range l.Rungs {
			if l.Name == ladder && r.Value == b.Limits[ladder] {
				return l, r
			}
		}
	}
	panic("no limit of ladder " + ladder)
}

func (b *builder) check(p record.Place, shape plan.Shape, warmup, requests int) {
	b.event(record.PhaseBegin, p, nil)
	warm := p
	warm.Phase = record.Warmup
	b.loop(warm, shape, warmup)
	b.event(record.RoundBegin, p, nil)
	b.loop(p, shape, requests)
	b.event(record.RoundEnd, p, func(e *record.Event) { e.Verdict = record.Accepted })
	b.until(b.t+interval, p)
	b.event(record.PhaseEnd, p, nil)
}
