package sim

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"rung/spec/plan"
)

// engine runs work on a card: embeddings merged into one forward at a time,
// chats on slots.
type engine struct {
	p     plan.Simulator
	card  *Card
	seed  int64
	queue chan *job
	slots chan struct{}
}

// job is one request's work.
type job struct {
	inputs int
	tokens int
	digest [32]byte // of the body: what its noise is drawn from
	done   chan error
}

func newEngine(p plan.Simulator, card *Card, seed int64) *engine {
	return &engine{p: p, card: card, seed: seed,
		queue: make(chan *job, 1<<16), slots: make(chan struct{}, max(1, p.Slots))}
}

// run is the forward loop. It ends with the context.
func (e *engine) run(ctx context.Context) {
	var held *job // taken from the queue, and too large for the batch it came to
	for {
		first := held
		if first == nil {
			select {
			case first = <-e.queue:
			case <-ctx.Done():
				return
			}
		}
		var batch []*job
		batch, held = e.merge(first)
		e.forward(ctx, batch)
	}
}

// merge takes what waits behind first while it fits, in order.
func (e *engine) merge(first *job) (batch []*job, held *job) {
	batch = []*job{first}
	for inputs := first.inputs; ; {
		select {
		case j := <-e.queue:
			if inputs+j.inputs > e.p.MaxBatch {
				return batch, j
			}
			inputs += j.inputs
			batch = append(batch, j)
		default:
			return batch, nil
		}
	}
}

// forward runs one batch and tells each of its jobs how it went. A batch that
// does not fit fails whole, as it does on a card.
func (e *engine) forward(ctx context.Context, batch []*job) {
	tokens := 0
	for _, j := range batch {
		tokens += j.tokens
	}
	err := e.card.begin(tokens)
	if err == nil {
		sleep(ctx, e.noisy(forwardTime(e.p, tokens), batch[0].digest))
		e.card.end(tokens)
		err = ctx.Err() // work that was cut short has no answer
	}
	for _, j := range batch {
		j.done <- err
	}
}

// embed waits for a forward that has the request in it. Work that was begun or
// waits is done even where its client has left.
func (e *engine) embed(ctx context.Context, j *job) error {
	select {
	case e.queue <- j:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// chat waits for a slot and holds it for the whole answer.
func (e *engine) chat(ctx context.Context, j *job, output int) error {
	select {
	case e.slots <- struct{}{}:
		defer func() { <-e.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := e.card.begin(j.tokens + output); err != nil {
		return err
	}
	defer e.card.end(j.tokens + output)
	sleep(ctx, e.noisy(chatTime(e.p, j.tokens, output), j.digest))
	return ctx.Err()
}

// forwardTime is the model's time for one forward over so many tokens, without
// its noise.
func forwardTime(p plan.Simulator, tokens int) time.Duration {
	return p.Overhead.D() + max(p.Floor.D(), time.Duration(tokens)*p.PerToken.D())
}

// chatTime is the same for one chat on its slot.
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

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// journal is the server's own log: what it received and what became of it.
type journal struct {
	mu    sync.Mutex
	write func(Entry)
}

// Entry is one line of the simulated server's log.
type Entry struct {
	Server       string `json:"server"` // always "simulated"
	Path         string `json:"path"`
	BodySHA256   string `json:"body_sha256"`
	Inputs       int    `json:"inputs"`
	InputTokens  int    `json:"input_tokens"`
	OutputTokens int    `json:"output_tokens"`
	Status       int    `json:"status"`
	Error        string `json:"error,omitempty"`
}

func (j *journal) add(e Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.Server = "simulated"
	j.write(e)
}
