package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rung/runner/self"
	"rung/runner/target"
	"rung/sinks/record"
	"rung/spec/plan"
)

// Config is what a run is made of.
type Config struct {
	Plan    plan.Plan
	Cell    plan.Cell
	Secrets plan.Secrets
	Texts   map[string][]byte // text files, by plan.Prompt.TextHash
	Sampler Sampler           // nil: no GPU is sampled
	Metrics MetricsReader     // nil: the server's own metrics are not read
	Dial    target.Dial       // nil: the network; for tests in virtual time

	Server Server // nil: it is attached, and nobody can start it again

	Log   LogReader    // nil: nobody reads what the server prints
	Asked *plan.Server // whose command is held against what the server says of itself; nil: it is attached, or simulated

	// Told are the settings that neither the target's own pages nor the log tell; nil: none.
	Told func(context.Context) []record.Setting

	// Limits tells, after the ladders, what they say is to be configured; for the checks
	// that follow. nil: nothing is known of it, and nothing is checked.
	Limits func() ([]Limit, error)

	Past *Past // nil: the run begins

	Usage     func() self.Usage // what rung itself takes; nil: it is not watched
	SelfCheck string            // SelfCheck, or why there is none
	Wall      func() time.Time  // the wall clock; nil: the system's
}

// Server is a server that can be started again.
type Server interface {
	Restart(ctx context.Context) error // returns when it answers
	Exited() string                    // how it ended by itself; empty where it runs
}

// SelfCheck asks for the instrument's floor before the run.
const SelfCheck = "self-check"

// Prepared is a run that can begin: the server answered, and for each prompt a
// form was found whose length it confirmed.
type Prepared struct {
	cfg        Config
	client     *target.Client
	clock      clock
	past       history
	materials  map[string]*material // by prompt name
	server     record.Server
	warnings   []string // what a reader of the results should know and no figure shows
	probes     []record.Request
	untouched  []record.Sample // of the card before the first request
	dims       *dimension
	perInput   int64 // bytes of an answer for each input, in the requests before the run
	instrument record.Client
	counter    bool // the server counts what its prefix cache gives, and its answers don't say
	usage      bool // an answer before the run had its input tokens

	alivePause time.Duration // between two questions to a server that broke off
}

// Server is what the target said of itself.
func (p *Prepared) Server() record.Server { return p.server }

// Warnings are what a reader of the results should know and no figure shows.
func (p *Prepared) Warnings() []string { return p.warnings }

// Probes are the requests before the run.
func (p *Prepared) Probes() []record.Request { return p.probes }

// Began is when the run's clock started.
func (p *Prepared) Began() time.Time { return p.clock.start }

// Close drops the connections.
func (p *Prepared) Close() { p.client.Close() }

// Prepare asks the server what it is and makes ready to send. Nothing has been
// written yet, so its errors (unreachable, wrong model, refused key, no prompt of
// that length) leave nothing behind.
func Prepare(ctx context.Context, cfg Config) (*Prepared, error) {
	client, err := target.New(cfg.Plan.Target, cfg.Cell.Body, cfg.Secrets, widest(cfg.Cell))
	if err != nil {
		return nil, err
	}
	if cfg.Dial != nil {
		client.DialBy(cfg.Dial)
	}
	p := &Prepared{cfg: cfg, client: client, materials: map[string]*material{}, dims: &dimension{}, alivePause: alivePause}
	p.past = newHistory(cfg.Past)
	p.clock = since(cfg.Past, p.past, time.Now())
	if err := p.prepare(ctx); err != nil {
		client.Close()
		return nil, err
	}
	return p, nil
}

func (p *Prepared) prepare(ctx context.Context) error {
	if err := p.checkDescriptors(); err != nil {
		return err
	}
	d, err := p.client.Discover(ctx)
	if err != nil {
		return err
	}
	p.server = d.Server
	p.findSettings(ctx)
	if err := p.sampleUntouched(); err != nil {
		return err
	}
	if !d.ListsModel {
		p.warnings = append(p.warnings, "the server has no /v1/models: whether it serves the model that the spec names is not known")
	}
	dialect, err := p.client.FindDialect(ctx)
	if err != nil {
		return err
	}
	p.server.Tokeniser = string(dialect)
	uses := usesOf(p.cfg.Cell)
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		m, err := p.findForm(ctx, uses[name], dialect, d.Vocabulary)
		if err != nil {
			return fmt.Errorf("prompt %q: %w", name, err)
		}
		p.materials[name] = m
	}
	p.limits(uses)
	p.findCounter(ctx)
	return p.checkSelf(ctx)
}

// findCounter looks for the server's own count of cached tokens, where its answers do
// not have one.
func (p *Prepared) findCounter(ctx context.Context) {
	for _, r := range p.probes {
		if r.CachedTokens != nil {
			return
		}
	}
	_, p.counter = p.client.CachedTokens(ctx)
}

// Instrument is what is known of the instrument itself.
func (p *Prepared) Instrument() record.Client { return p.instrument }

// sampleUntouched reads the card before anything was sent: what the probes take a
// growing allocator keeps, so that later nothing shows what the model holds alone.
func (p *Prepared) sampleUntouched() error {
	if p.cfg.Sampler == nil {
		return nil
	}
	now := time.Now()
	samples, err := p.cfg.Sampler.Sample()
	if err != nil {
		return fmt.Errorf("the GPU can't be sampled: %w", err)
	}
	for _, s := range samples {
		s.Place, s.Time, s.TS, s.Forced = record.Place{Phase: record.Probe}, now, p.clock.at(now), true
		p.untouched = append(p.untouched, s)
	}
	return nil
}

// use is one prompt and every shape in which the cell sends it.
type use struct {
	prompt plan.Prompt
	shapes []plan.Shape
}

func usesOf(c plan.Cell) map[string]use {
	uses := map[string]use{}
	add := func(p plan.Prompt, s plan.Shape) {
		u := uses[p.Name]
		u.prompt = p
		u.shapes = append(u.shapes, s)
		uses[p.Name] = u
	}
	if b := c.Baseline; b != nil {
		add(b.Prompt, b.Shape)
	}
	for _, l := range c.Ladders {
		for _, r := range l.Rungs {
			add(l.Prompt, r.Shape)
		}
	}
	for _, t := range c.Retests {
		add(t.Prompt, plan.Shape{Batch: 1, InputTokens: t.Tokens, OutputTokens: t.Output, InFlight: 1})
	}
	if t := c.Confirm; t != nil {
		add(t.Prompt, plan.Shape{Batch: 1, InputTokens: t.Tokens, OutputTokens: t.Output, InFlight: 1})
	}
	return uses
}

func (u use) shortest() int {
	if len(u.prompt.Mix) > 0 {
		return u.prompt.Mix[0].Tokens
	}
	n := u.shapes[0].InputTokens
	for _, s := range u.shapes {
		n = min(n, s.InputTokens)
	}
	return n
}

// limits warns of lengths over what the server says it takes.
func (p *Prepared) limits(uses map[string]use) {
	limit := p.server.MaxModelLen
	if limit == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		for _, s := range uses[name].shapes {
			if n := s.InputTokens + s.OutputTokens; n > *limit {
				p.warnings = append(p.warnings, fmt.Sprintf("prompt %q asks for %d tokens and the server takes %d: expect too_long from there on", name, n, *limit))
				break
			}
		}
	}
}

// widest is the most requests that are ever in flight.
func widest(c plan.Cell) int {
	n := 1
	for _, l := range c.Ladders {
		for _, r := range l.Rungs {
			n = max(n, r.Shape.InFlight)
		}
	}
	return n
}

// probe sends one request before the run and keeps its row. exact says that its
// input tokens must be as planned.
func (p *Prepared) probe(ctx context.Context, m *material, shape plan.Shape, exact bool) (record.Request, error) {
	key := plan.Key{Phase: string(record.Probe), Ladder: m.prompt.Name, Attempt: p.past.times, Index: len(p.probes)}
	body, tokens, err := m.body(ctx, p.client, shape, func(input int) [32]byte { return p.cfg.Plan.Draw(key, input) })
	if err != nil {
		return record.Request{}, err
	}
	c := call{id: p.cfg.Plan.ID(key), body: body, sum: digest(body), tokens: tokens, stream: m.prompt.Stream}
	want := target.Want{Inputs: shape.Batch, OutputTokens: shape.OutputTokens}
	if exact {
		want.InputTokens = tokens
	}
	reply := p.client.Send(ctx, body, p.answerLimit(shape), c.stream)
	a := p.client.Read(reply, want)
	if a.Outcome == record.OK {
		p.perInput = max(p.perInput, int64(len(reply.Body)/max(1, shape.Batch)))
	}
	p.usage = p.usage || a.Outcome == record.OK && a.InputTokens != nil
	row := p.row(record.Place{Phase: record.Probe}, len(p.probes), shape, c, reply, a)
	row.InFlight, row.RejectReason = 1, "probe"
	p.probes = append(p.probes, row)
	return row, nil
}

// An answer may be this much longer than those before the run, and is never held
// to less than leastAnswer.
const (
	answerSlack = 8
	leastAnswer = 32 << 20
)

// answerLimit bounds what is read of one answer: those in flight are all held in
// memory at once, and a server that sends without end must not fill it.
func (p *Prepared) answerLimit(s plan.Shape) int64 {
	return max(leastAnswer, answerSlack*p.perInput*int64(s.Batch))
}

// errProbe says why the request before the run failed, in words that tell what
// to do.
func (p *Prepared) errProbe(r record.Request) error {
	var hint string
	switch {
	case r.Status != nil && (*r.Status == 401 || *r.Status == 403):
		return fmt.Errorf("the server at %s refused the key: status %d: %s; look at target.headers", p.client.Shown(), *r.Status, r.Error)
	case r.Status != nil && *r.Status == 404:
		hint = "; is target.api right for this server, and does it have the model?"
	case r.Outcome == record.Refused || r.Outcome == record.Reset:
		return fmt.Errorf("%w: %s: %s (%s)", target.ErrUnreachable, p.client.Shown(), r.Error, r.Outcome)
	case r.Outcome == record.Timeout:
		hint = "; is target.timeout too short for one request?"
	case r.Outcome == record.TooLong:
		hint = "; the shortest prompt of the spec is too long for this server"
	}
	status := ""
	if r.Status != nil {
		status = fmt.Sprintf(", status %d", *r.Status)
	}
	return fmt.Errorf("the request before the run failed: %s%s: %s%s", r.Outcome, status, strings.TrimSpace(r.Error), hint)
}

var errNoExactLength = errors.New("no form of prompt was found whose length the server confirms")
