package resultstest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"rung/sinks/record"
	"rung/spec/plan"
)

func (b *builder) round(l plan.Ladder, p record.Place, rung plan.Rung, tally *plan.Tally) []record.Request {
	b.event(record.RoundBegin, p, nil)
	var rows []record.Request
	if l.Axis == plan.AxisRate {
		rows = b.open(p, rung)
	} else {
		rows = b.loop(p, rung.Shape, rung.Requests)
	}
	for _, r := range rows {
		tally.Total++
		if r.Failed() {
			tally.Failures++
			tally.ByName[string(r.Outcome)]++
		}
	}
	b.event(record.RoundEnd, p, func(e *record.Event) {
		round := record.RoundOf(rows)
		w := round.SteadyWindow()
		e.Verdict, e.WindowS, e.WallS, e.MeanInFlight = record.Accepted, new(w.Len()), new(round.WallS()), new(round.MeanInFlight(w))
		e.OK, e.Failed = new(tally.Total-tally.Failures), new(tally.Failures)
	})
	return rows
}

// loop is a closed loop of n requests with shape.InFlight of them in flight, on a
// server with a fixed number of slots. It returns the rows it made.
func (b *builder) loop(p record.Place, shape plan.Shape, n int) []record.Request {
	rows := make([]record.Request, 0, n)
	slots := make([]float64, b.Slots)
	clients := make([]float64, shape.InFlight)
	for i := range slots {
		slots[i] = b.t
	}
	for i := range clients {
		clients[i] = b.t
	}
	outcome, every := b.Fails(shape)
	end := b.t
	for i := range n {
		c, s := least(clients), least(slots)
		sent := clients[c]
		done := max(sent, slots[s]) + b.Service(shape)*(1+b.Noise*b.rng.NormFloat64())
		clients[c], slots[s] = done, done
		end = max(end, done)
		r := b.request(p, shape, i, sent, done)
		if every > 0 && i%every == every-1 && p.Phase != record.Warmup {
			fail(&r, outcome)
		}
		rows = append(rows, r)
	}
	b.taken = max(b.taken, min(b.Used(shape), 23*GiB))
	b.shape = shape
	b.until(end, p)
	b.shape = plan.Shape{}
	b.keep(rows)
	return rows
}

// keep puts requests into the run, or hands them on.
func (b *builder) keep(rows []record.Request) {
	b.made += len(rows)
	if b.Take != nil {
		b.Take(rows)
		return
	}
	b.run.Requests = append(b.run.Requests, rows...)
}

// bodySum is the sum of a body that no other request has.
func bodySum(n int) string {
	sum := sha256.Sum256(fmt.Append(nil, n))
	return hex.EncodeToString(sum[:])
}

// least is the index of the smallest value.
func least(values []float64) int {
	at := 0
	for i, v := range values {
		if v < values[at] {
			at = i
		}
	}
	return at
}

func (b *builder) request(p record.Place, shape plan.Shape, i int, sent, done float64) record.Request {
	tokens := shape.Batch * shape.InputTokens
	r := record.Request{
		Place: p, ID: fmt.Sprintf("%016x", b.made+i), Index: i, Time: b.wall(sent), DueTS: sent, SentTS: sent, DoneTS: done,
		InFlight: shape.InFlight, Inputs: shape.Batch, InputsDone: shape.Batch, InputTokensPlanned: tokens, InputTokens: &tokens,
		BodyBytes: int64(4 * tokens), BodySHA256: bodySum(b.made + i), ResponseBytes: 4096,
		Outcome: record.OK, Counted: p.Phase != record.Warmup, Status: new(200), ConnReused: true,
	}
	if p.Phase == record.Warmup {
		r.RejectReason = "warmup"
	}
	if b.Chat {
		n := 64
		if shape.OutputTokens > 0 {
			n = shape.OutputTokens
		}
		r.OutputTokensPlanned, r.OutputTokens, r.FinishReason, r.UsageSource = &n, new(n), "length", record.BodyUsage
	}
	if b.Stream {
		stream(&r, b.Service(shape))
	}
	return r
}

func fail(r *record.Request, o record.Outcome) {
	r.Outcome, r.InputsDone, r.InputTokens, r.OutputTokens = o, 0, nil, nil
	r.FirstTokenTS, r.Chunks, r.ChunkGapsS, r.FinishReason = nil, nil, nil, ""
	r.Status, r.Error = new(500), "<b>CUDA out of memory</b>\x1b[31m"
}

// give adds a round to what a rung gave.
func give(y *record.Yield, rows []record.Request) {
	y.Add(record.RoundOf(rows), func(i int) record.Gift { return rows[i].Gift() })
}
