package sim

import (
	"context"
	"time"
)

// progress is told how an answer gets on; each may be nil. An error ends the work.
type progress struct {
	admitted func() error      // it has its memory, and begins
	token    func(n int) error // the n-th token is there, counted from 1
}

// generate waits for a slot and holds it for the whole answer.
func (e *engine) generate(ctx context.Context, j *job, output int, on progress) error {
	leave, err := e.slot(ctx)
	if err != nil {
		return err
	}
	defer leave()
	g := &generation{e: e, j: j, output: output, on: on, seq: &sequence{tokens: j.tokens}}
	taken := j.tokens + output
	if e.pool != nil { // the pool has them, as they come
		taken = 0
		defer e.pool.leave(g.seq)
		if err := e.pool.enter(ctx, g.seq); err != nil {
			return err
		}
	}
	rise, err := e.card.begin(taken, 0)
	if err != nil {
		return err
	}
	defer e.card.end(taken, 0)
	e.counts.add(func(c *counts) { c.waiting--; c.running++ })
	defer e.counts.add(func(c *counts) { c.waiting++; c.running-- })
	return g.run(ctx, rise+e.compile(j))
}

// slot waits for one of the sequences that run at once. Until it runs a sequence is
// counted among those that wait.
func (e *engine) slot(ctx context.Context) (leave func(), err error) {
	e.mu.Lock()
	full := e.p.MaxQueue > 0 && e.inside >= cap(e.slots)+e.p.MaxQueue
	if !full {
		e.inside++
	}
	e.mu.Unlock()
	if full {
		return nil, e.overloaded()
	}
	e.counts.add(func(c *counts) { c.waiting++ })
	left := func() {
		e.counts.add(func(c *counts) { c.waiting-- })
		e.mu.Lock()
		e.inside--
		e.mu.Unlock()
	}
	select {
	case e.slots <- struct{}{}:
		return func() { <-e.slots; left() }, nil
	case <-ctx.Done():
		left()
		return nil, ctx.Err()
	}
}

// generation is one answer in the making.
type generation struct {
	e      *engine
	j      *job
	output int
	on     progress
	seq    *sequence
	next   time.Time // when what runs now is done
}

// run prefills and decodes. Where nobody looks at single tokens and nothing can
// happen between them, the whole is one span.
func (g *generation) run(ctx context.Context, extra time.Duration) error {
	e := g.e
	if g.on.admitted != nil {
		if err := g.on.admitted(); err != nil {
			return err
		}
	}
	g.next = time.Now()
	prompt := g.j.tokens - g.j.cached
	if g.on.token == nil && e.pool == nil && e.p.DecodeSlowdown <= 0 {
		d := e.timed(chatTime(e.p, prompt, g.output), g.j.digest)
		return g.until(ctx, d+extra)
	}
	if err := g.until(ctx, e.timed(forwardTime(e.p, prompt), g.j.digest)+extra); err != nil {
		return err
	}
	for n := 1; n <= g.output; n++ {
		if err := g.step(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// step makes the n-th token. A sequence that was pushed out of the pool does all
// that it had over before.
func (g *generation) step(ctx context.Context, n int) error {
	e := g.e
	if err := g.until(ctx, e.timed(e.stepTime(), g.j.digest)); err != nil {
		return err
	}
	for d := e.pool.stood(g.seq); d > 0; d = e.pool.stood(g.seq) {
		if err := g.until(ctx, d); err != nil {
			return err
		}
	}
	for e.pool != nil && !e.pool.grow(g.seq) {
		if err := g.again(ctx); err != nil {
			return err
		}
	}
	if g.on.token != nil {
		return g.on.token(n)
	}
	return nil
}

// again waits for room in the pool and computes anew what was lost with it.
func (g *generation) again(ctx context.Context) error {
	e := g.e
	e.counts.add(func(c *counts) { c.running--; c.waiting++ })
	err := e.pool.enter(ctx, g.seq)
	e.counts.add(func(c *counts) { c.running++; c.waiting-- })
	if err != nil {
		return err
	}
	d := e.timed(forwardTime(e.p, g.seq.tokens), g.j.digest)
	e.pool.redo(g.seq, d)
	g.next = time.Now()
	return g.until(ctx, d)
}

// stepTime is the time of one token among those that run.
func (e *engine) stepTime() time.Duration {
	d := e.p.PerOutputToken.D()
	if e.p.DecodeSlowdown > 0 {
		d = time.Duration(float64(d) * (1 + e.p.DecodeSlowdown*float64(max(0, e.counts.now().running-1))))
	}
	return d
}

// until waits for the end of a span that begins where the last one ended, so that
// lateness does not add up.
func (g *generation) until(ctx context.Context, d time.Duration) error {
	g.next = g.next.Add(d)
	sleep(ctx, time.Until(g.next))
	return ctx.Err()
}
