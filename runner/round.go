package runner

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"rung/runner/target"
	"rung/sinks/record"
	"rung/spec/plan"
)

// leastInFlight is the share of the asked requests in flight below which a round
// measured the client. A perfect client scores 1.000 whatever the spread.
const leastInFlight = 0.95

// result is one attempt of one round.
type result struct {
	rows []record.Request // in order of index; only those that were sent
	cut  bool             // an outcome stopped the sending
}

// sent is one reply on its way from who sends to who reads. answer is set where
// it had to be read at once; then whether it stops the sending was asked too.
type sent struct {
	index  int
	reply  target.Reply
	answer *target.Answer
}

// closedLoop sends the calls with shape.InFlight of them in flight until all are
// sent, an outcome trips, or the run is to stop. It returns when the last has come
// back. Answers are read by other goroutines than those that send, but for those
// that look like failures: what one of them trips must not depend on who is first.
func (r *run) closedLoop(place record.Place, shape plan.Shape, calls []call, trips func(record.Outcome) bool) result {
	rows := make([]*record.Request, len(calls))
	replies := make(chan sent, max(1, shape.InFlight))
	var next atomic.Int64
	var cut atomic.Bool
	ended, counting := 0, newTurn()
	limit := r.answerLimit(shape)
	want := func(i int) target.Want {
		return target.Want{Inputs: shape.Batch, InputTokens: calls[i].tokens, OutputTokens: shape.OutputTokens}
	}

	judging := newTurn()
	judge := func(o record.Outcome) {
		judging.take()
		defer judging.give()
		if trips(o) {
			cut.Store(true)
		}
	}
	var readers sync.WaitGroup
	for range max(1, runtime.GOMAXPROCS(0)/2) {
		readers.Go(func() {
			for s := range replies {
				judged := s.answer != nil
				if !judged {
					a := r.read(s.reply, want(s.index))
					s.answer = &a
				}
				row := r.row(place, s.index, shape, calls[s.index], s.reply, *s.answer)
				if !judged {
					judge(row.Outcome)
				}
				rows[s.index] = &row
				counting.take()
				ended++
				r.tick(row, ended, len(calls))
				counting.give()
			}
		})
	}
	var senders sync.WaitGroup
	for range min(shape.InFlight, len(calls)) {
		senders.Go(func() {
			for !cut.Load() && !r.stopped() {
				i := int(next.Add(1)) - 1
				if i >= len(calls) {
					return
				}
				s := sent{index: i, reply: r.client.Send(r.abort, calls[i].body, limit, calls[i].stream)}
				if looksFailed(s.reply) {
					a := r.read(s.reply, want(s.index))
					s.answer = &a
					judge(a.Outcome)
				}
				replies <- s
			}
		})
	}
	senders.Wait()
	close(replies)
	readers.Wait()
	return result{rows: compact(rows), cut: cut.Load()}
}

// smallAnswer bounds what is searched for an error behind a status of 200.
const smallAnswer = 4 << 10

// looksFailed says whether a reply is to be read before more is sent. It is
// cheap: a success is never read here.
func looksFailed(r target.Reply) bool {
	small := len(r.Body) <= smallAnswer || r.Arrivals != nil // a stream can fail at its end
	return r.Err != nil || r.Status != http.StatusOK || small && bytes.Contains(r.Body, []byte(`"error"`))
}

// read decides what a reply is. What broke because the run was given up is
// cancelled, whichever end of the connection noticed first.
func (r *run) read(reply target.Reply, want target.Want) target.Answer {
	a := r.client.Read(reply, want)
	if reply.Err != nil && r.abort.Err() != nil {
		a.Outcome = record.Cancelled
	}
	return a
}

func compact(rows []*record.Request) []record.Request {
	out := make([]record.Request, 0, len(rows))
	for _, row := range rows {
		if row != nil {
			out = append(out, *row)
		}
	}
	return out
}

// admit says why a round must not count, or "" where it does. planned is the
// number of requests that the round was to have.
func (r *run) admit(res result, shape plan.Shape, planned int) string {
	if r.stopped() && (len(res.rows) < planned && !res.cut || has(res.rows, record.Cancelled)) {
		return "interrupted"
	}
	if reason := refuseBy(res.rows, record.TokenMismatch, "input tokens off the plan"); reason != "" {
		return reason
	}
	if reason := r.usageLost(res.rows); reason != "" {
		return reason
	}
	if reason := refuseBy(res.rows, record.ClientLimited, "this machine ran out of descriptors or ports"); reason != "" {
		return reason
	}
	if res.cut || len(res.rows) < 2*shape.InFlight || !has(res.rows, record.OK) {
		return "" // too short to say anything of its steady part, or nothing in it to measure
	}
	if mean := record.MeanInFlight(res.rows, record.SteadyWindow(res.rows)); mean < leastInFlight*float64(shape.InFlight) {
		return fmt.Sprintf("client_limited: %.2f in flight on average, asked were %d", mean, shape.InFlight)
	}
	return ""
}

func has(rows []record.Request, o record.Outcome) bool {
	return slices.ContainsFunc(rows, func(row record.Request) bool { return row.Outcome == o })
}

// usageLost says in how many successes the usage is missing that the server gave
// before the run: their length is not confirmed.
func (r *run) usageLost(rows []record.Request) string {
	n := 0
	for _, row := range rows {
		if r.usage && row.Outcome == record.OK && row.InputTokens == nil {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("no usage in %d of %d answers: their input tokens are not confirmed", n, len(rows))
}

func refuseBy(rows []record.Request, o record.Outcome, words string) string {
	n := 0
	for _, row := range rows {
		if row.Outcome == o {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %s in %d of %d requests", o, words, n, len(rows))
}

// incidents numbers the failures of a round so that those of one cause share a
// number: equal outcomes whose spans overlap.
func (r *run) incidents(rows []record.Request) {
	var failed []*record.Request
	for i := range rows {
		if rows[i].Failed() {
			failed = append(failed, &rows[i])
		}
	}
	slices.SortStableFunc(failed, func(a, b *record.Request) int {
		return cmp.Or(cmp.Compare(a.Outcome, b.Outcome), cmp.Compare(a.SentTS, b.SentTS))
	})
	end := 0.0
	for i, row := range failed {
		if i == 0 || row.Outcome != failed[i-1].Outcome || row.SentTS > end {
			r.incident++
			end = row.DoneTS
		}
		end = max(end, row.DoneTS)
		id := r.incident
		row.Incident = &id
	}
}

// calls makes the bodies of one round, before its clock starts.
func (r *run) calls(ctx context.Context, place record.Place, pr plan.Prompt, shape plan.Shape, n int) ([]call, error) {
	m := r.materials[pr.Name]
	out := make([]call, n)
	for i := range out {
		key := plan.Key{Phase: string(place.Phase), Ladder: place.Ladder, Pass: place.Pass, Rung: place.Rung, Round: place.Round, Attempt: place.Attempt, Index: i}
		draw := m.drawer(r.cfg.Plan, key)
		body, tokens, err := m.body(ctx, r.client, shape, draw)
		if err != nil && !r.stopped() { // the server counts texts: it may be gone, or have been for a moment
			if err := r.awaitServer(false); err != nil {
				return nil, err
			}
			body, tokens, err = m.body(ctx, r.client, shape, draw)
		}
		if err != nil {
			return nil, fmt.Errorf("prompt %q: %w", pr.Name, err)
		}
		out[i] = call{id: r.cfg.Plan.ID(key), body: body, sum: digest(body), tokens: tokens, stream: pr.Stream}
	}
	return out, nil
}
