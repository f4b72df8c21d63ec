package sim

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"rung/spec/plan"
)

// engine runs work on a card: embeddings merged into one forward at a time, chats
// and completions on slots. A server that is started again has a new one.
type engine struct {
	p      plan.Simulator
	card   *Card
	seed   int64
	cond   conditions
	counts *counters
	cache  *cache // nil: none
	slots  chan struct{}
	pool   *pool // nil: none

	gather time.Duration // see Config.Gather

	mu     sync.Mutex
	queue  []*job
	busy   bool // a forward runs
	inside int  // sequences that hold a slot or wait for one
	shapes map[shape]bool
	wake   chan struct{}
}

// job is one request's work.
type job struct {
	inputs  int
	tokens  int // of all inputs, those in the cache too
	cached  int // of them those that need no work
	longest int // tokens of the longest input
	digest  [32]byte
	done    chan error
	came    time.Time
}

// shape is what a kernel is compiled for: the number of inputs, and their length in
// powers of two.
type shape struct{ inputs, bucket int }

func newEngine(p plan.Simulator, card *Card, seed int64) *engine {
	e := &engine{p: p, card: card, seed: seed, cond: card.cond, counts: &counters{}, cache: newCache(p, poolTokens(p)),
		slots: make(chan struct{}, max(1, p.Slots)), shapes: map[shape]bool{}, wake: make(chan struct{}, 1)}
	if n := poolTokens(p); n > 0 {
		e.pool = &pool{size: n, evict: func() { e.counts.add(func(c *counts) { c.preemptions++ }) }}
	}
	return e
}

// run is the forward loop. It ends with the context.
func (e *engine) run(ctx context.Context) {
	for {
		e.gathered(ctx)
		if batch := e.merge(); batch != nil {
			e.forward(ctx, batch)
			continue
		}
		select {
		case <-e.wake:
		case <-ctx.Done():
			return
		}
	}
}

// gathered waits until all that come at this instant are in the queue.
func (e *engine) gathered(ctx context.Context) {
	if e.gather > 0 {
		sleep(ctx, e.gather)
	}
}

// merge takes what waits while it fits, in order.
func (e *engine) merge() []*job {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.gather > 0 {
		slices.SortStableFunc(e.queue, func(a, b *job) int {
			return cmp.Or(a.came.Compare(b.came), bytes.Compare(a.digest[:], b.digest[:]))
		})
	}
	n, inputs := 0, 0
	for ; n < len(e.queue); n++ {
		if inputs += e.queue[n].inputs; n > 0 && inputs > e.p.MaxBatch {
			break
		}
	}
	e.busy = n > 0
	if n == 0 {
		return nil
	}
	batch := e.queue[:n:n]
	e.queue = e.queue[n:]
	e.counts.add(func(c *counts) { c.waiting -= n; c.running += n })
	return batch
}

// forward runs one batch and tells each of its jobs how it went. A batch that does
// not fit fails whole, as it does on a card.
func (e *engine) forward(ctx context.Context, batch []*job) {
	tokens, work := 0, 0
	for _, j := range batch {
		tokens += j.tokens
		work += j.tokens - j.cached
	}
	beside := e.beside(batch)
	rise, err := e.card.begin(tokens, beside)
	if err == nil {
		sleep(ctx, e.timed(forwardTime(e.p, work), batch[0].digest)+rise+e.compile(batch...))
		e.card.end(tokens, beside)
		err = ctx.Err() // work that was cut short has no answer
	}
	e.counts.add(func(c *counts) { c.running -= len(batch) })
	for _, j := range batch {
		j.done <- err
	}
}

// beside is the memory that a forward takes beside that of its tokens.
func (e *engine) beside(batch []*job) int64 {
	var inputs, longest int64
	for _, j := range batch {
		inputs, longest = inputs+int64(j.inputs), max(longest, int64(j.longest))
	}
	return inputs * (e.p.MemoryPerInput + longest*longest*e.p.MemoryPerPair)
}

// embed waits for a forward that has the request in it. Work that was begun or
// waits is done even where its client has left.
func (e *engine) embed(ctx context.Context, j *job) error {
	if err := e.enqueue(j); err != nil {
		return err
	}
	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *engine) enqueue(j *job) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := 1 // where nothing runs, the next goes in at once
	if e.busy {
		now = 0
	}
	if e.p.MaxQueue > 0 && len(e.queue) >= e.p.MaxQueue+now {
		return e.overloaded()
	}
	j.came = time.Now()
	e.queue = append(e.queue, j)
	e.counts.add(func(c *counts) { c.waiting++ })
	select {
	case e.wake <- struct{}{}:
	default:
	}
	return nil
}

// compile gives the time for the shapes that were not seen before.
func (e *engine) compile(batch ...*job) time.Duration {
	if e.p.Compile <= 0 {
		return 0
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var d time.Duration
	for _, j := range batch {
		s := shape{j.inputs, bucket(j.longest)}
		if !e.shapes[s] {
			e.shapes[s] = true
			d += e.p.Compile.D()
		}
	}
	return d
}

// bucket is the power of two that a length is padded to.
func bucket(n int) int {
	b := 1
	for b < n {
		b *= 2
	}
	return b
}

// forwardTime is the model's time for one forward over so many tokens, without its
// noise, on a card that is cool and alone.
func forwardTime(p plan.Simulator, tokens int) time.Duration {
	return p.Overhead.D() + max(p.Floor.D(), time.Duration(tokens)*p.PerToken.D())
}

// chatTime is the same for one answer on its slot, with nothing else running.
func chatTime(p plan.Simulator, input, output int) time.Duration {
	return forwardTime(p, input) + time.Duration(output)*p.PerOutputToken.D()
}

// noisy multiplies a time by a log-normal factor of mean 1 whose coefficient of
// variation is the declared one, drawn from the seed and the request's bytes: the
// same request takes the same time whenever it comes.
func (e *engine) noisy(d time.Duration, digest [32]byte) time.Duration {
	if e.p.Noise <= 0 {
		return d
	}
	r := rand.New(rand.NewPCG(uint64(e.seed), binary.BigEndian.Uint64(digest[:8])))
	s2 := math.Log1p(e.p.Noise * e.p.Noise)
	return time.Duration(float64(d) * math.Exp(math.Sqrt(s2)*r.NormFloat64()-s2/2))
}

// timed is a time with its noise, under the conditions of now.
func (e *engine) timed(d time.Duration, digest [32]byte) time.Duration {
	return e.slowed(e.noisy(d, digest))
}

func (e *engine) slowed(d time.Duration) time.Duration {
	return time.Duration(float64(d) * e.cond.slower(time.Now()) * e.card.slower())
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
