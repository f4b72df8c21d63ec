package runner

import (
	"bytes"
	"cmp"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"rung/runner/target"
	"rung/sinks/record"
	"rung/spec/plan"
)

// result is one attempt of one round.
type result struct {
	rows     []record.Request   // in order of index; a dropped one too
	counted  [][]record.Request // of several rounds: those of each that was admitted
	cut      bool               // an outcome stopped the sending
	recalled int                // rows at its beginning that an earlier part of the run sent
	hits     *float64           // cached prompt tokens by the server's own counter, over the round
	busy     string             // where the client itself had hardly any time left
	dry      bool               // a client that could not make requests as fast as they were to be sent
}

// flight sends what a load asks for and collects what comes back. Answers are read
// by other goroutines than those that send, but for those that look like failures:
// what one of them trips must not depend on who is first.
type flight struct {
	r     *run
	place record.Place
	shape plan.Shape
	limit int64 // bytes of an answer
	of    int   // requests that it is to send; 0: not known before
	trips func(record.Outcome) bool
	open  bool // an open loop: what may be in flight is a bound

	cut     atomic.Bool
	judging turn

	replies chan sent
	readers sync.WaitGroup
	turn    turn
	rows    []record.Request
	ended   int
}

// sent is one reply on its way from who sends to who reads. answer is set where it
// had to be read at once; then whether it stops the sending was asked too.
type sent struct {
	call   call
	due    time.Time // zero: when it was sent
	reply  target.Reply
	answer *target.Answer
	idle   bool // broke on a connection that had lain idle, and was sent again
	gap    *float64
}

func (r *run) flight(place record.Place, shape plan.Shape, of int, trips func(record.Outcome) bool) *flight {
	f := &flight{
		r: r, place: place, shape: shape, limit: r.answerLimit(shape), of: of, trips: trips,
		judging: newTurn(), turn: newTurn(), replies: make(chan sent, max(1, min(shape.InFlight, 1_000))),
	}
	for range max(1, runtime.GOMAXPROCS(0)/2) {
		f.readers.Go(func() {
			for s := range f.replies {
				f.read(s)
			}
		})
	}
	return f
}

// stopped says that no more is to be sent.
func (f *flight) stopped() bool { return f.cut.Load() || f.r.stopped() }

// send sends one request and hands on what came. A connection that the server had
// closed while it lay idle says nothing of the server: the request is sent once
// more, and both are kept.
func (f *flight) send(c call, due time.Time) {
	gap := f.r.air.begin()
	defer f.r.air.end()
	s := sent{call: c, due: due, gap: gap, reply: f.r.client.Send(f.r.abort, c.body, f.limit, c.stream)}
	if s.reply.BrokeIdle() && !f.r.stopped() {
		s.idle = true
		f.replies <- s
		f.r.client.Fresh()
		s = sent{call: c, due: due, reply: f.r.client.Send(f.r.abort, c.body, f.limit, c.stream)}
	}
	if looksFailed(s.reply) {
		a := f.r.read(s.reply, f.want(c))
		s.answer = &a
		f.judge(a.Outcome)
	}
	f.replies <- s
}

// drop notes a request that was due and had no place in flight.
func (f *flight) drop(c call, due time.Time) {
	place := f.place
	row := record.Request{
		Place: place, ID: c.id, Index: c.index, DueTS: f.r.clock.at(due), InFlight: f.shape.InFlight, Inputs: f.shape.Batch,
		InputTokensPlanned: c.tokens, BodyBytes: int64(len(c.body)), BodySHA256: c.sum, Outcome: record.Dropped,
	}
	if n := f.shape.OutputTokens; n > 0 {
		row.OutputTokensPlanned = &n
	}
	f.turn.take()
	defer f.turn.give()
	f.add(row)
}

// add takes a row that is there but for the verdict of its round.
func (f *flight) add(row record.Request) {
	f.rows = append(f.rows, row)
	f.r.send(record.Item{Draft: &row})
	if !row.ResetIdle {
		f.ended++
		f.tick(row)
	}
}

func (f *flight) want(c call) target.Want {
	return target.Want{Inputs: f.shape.Batch, InputTokens: c.tokens, OutputTokens: f.shape.OutputTokens}
}

// judge asks whether an outcome stops the sending.
func (f *flight) judge(o record.Outcome) {
	f.judging.take()
	defer f.judging.give()
	if f.trips(o) {
		f.cut.Store(true)
	}
}

// read looks at a reply and makes its row.
func (f *flight) read(s sent) {
	judged := s.answer != nil || s.idle
	if s.answer == nil {
		a := f.r.read(s.reply, f.want(s.call))
		s.answer = &a
	}
	row := f.r.row(f.place, s.call.index, f.shape, s.call, s.reply, *s.answer)
	row.ResetIdle, row.GapS = s.idle, s.gap
	if !s.due.IsZero() {
		row.DueTS = f.r.clock.at(s.due)
	}
	if !judged {
		f.judge(row.Outcome)
	}
	f.turn.take()
	defer f.turn.give()
	f.add(row)
}

// tick tells whoever watches that a request has ended.
func (f *flight) tick(row record.Request) {
	ts := row.DoneTS
	if !row.Sent() {
		ts = row.DueTS
	}
	t := &record.Tick{Place: row.Place, TS: ts, Ended: f.ended, Of: f.of, LatencyS: row.LatencyS(), Outcome: row.Outcome, Inputs: row.InputsDone}
	if !f.open {
		t.InFlight = row.InFlight
	}
	f.r.send(record.Item{Tick: t})
}

// land waits until all has come back.
func (f *flight) land() result {
	close(f.replies)
	f.readers.Wait()
	slices.SortStableFunc(f.rows, func(a, b record.Request) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.SentTS, b.SentTS))
	})
	return result{rows: f.rows, cut: f.cut.Load()}
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

// air keeps account of what is in flight, over the whole run.
type air struct {
	mu   sync.Mutex
	n    int
	last time.Time // when the last came back
}

// begin takes off. It gives the seconds for which nothing was in flight, or nil where
// something is.
func (a *air) begin() *float64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.n++
	if a.n > 1 || a.last.IsZero() {
		return nil
	}
	gap := time.Since(a.last).Seconds()
	return &gap
}

func (a *air) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.n--
	a.last = time.Now()
}

func (a *air) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.n
}

// idle is for how long nothing has been in flight.
func (a *air) idle() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.n > 0 || a.last.IsZero() {
		return 0
	}
	return time.Since(a.last)
}
