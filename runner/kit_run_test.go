package runner

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rung/runner/memnet"
	"rung/sinks/record"
	"rung/spec/plan"
)

// tape collects what a run emits.
type tape struct {
	mu    sync.Mutex
	items []record.Item
	on    func(record.Item) // called for each, before it is kept
}

func (p *tape) put(it record.Item) {
	if p.on != nil {
		p.on(it)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.items = append(p.items, it)
}

func (p *tape) rows(keep ...func(record.Request) bool) []record.Request {
	var out []record.Request
	for _, it := range p.items {
		if it.Request != nil && !slices.ContainsFunc(keep, func(k func(record.Request) bool) bool { return !k(*it.Request) }) {
			out = append(out, *it.Request)
		}
	}
	return out
}

func phase(p record.Phase) func(record.Request) bool {
	return func(r record.Request) bool { return r.Phase == p }
}

func (p *tape) events(kind record.EventKind) []record.Event {
	var out []record.Event
	for _, it := range p.items {
		if it.Event != nil && it.Event.Kind == kind {
			out = append(out, *it.Event)
		}
	}
	return out
}

func (p *tape) samples() []record.Sample {
	var out []record.Sample
	for _, it := range p.items {
		if it.Sample != nil {
			out = append(out, *it.Sample)
		}
	}
	return out
}

func (p *tape) reasons(kind record.EventKind) []string {
	var out []string
	for _, e := range p.events(kind) {
		out = append(out, e.Reason)
	}
	return out
}

// batchLadder has a rung for each batch size, a round of one request at a time.
func batchLadder(name string, passes, rounds, requests int, batches ...int) plan.Ladder {
	l := plan.Ladder{Name: name, Axis: plan.AxisBatch, Prompt: plan.Prompt{Name: "p"}, Reruns: 2, Cooldown: plan.Duration(time.Second),
		Stop: plan.Stop{Outcomes: []string{"oom", "cuda_error", "reset", "refused"}, FailureRatio: 0.01, ConfirmRounds: 3}}
	for i, b := range batches {
		l.Rungs = append(l.Rungs, plan.Rung{Index: i, Value: float64(b), Shape: plan.Shape{Batch: b, InputTokens: 16, InFlight: 1}, Warmup: 1, Rounds: rounds, Requests: requests})
	}
	for i := range passes {
		p := plan.Pass{Index: i, Up: i%2 == 0}
		for j := range batches {
			p.Order = append(p.Order, j)
		}
		if !p.Up {
			slices.Reverse(p.Order)
		}
		l.Passes = append(l.Passes, p)
	}
	return l
}

// loadLadder raises the requests in flight.
func loadLadder(requests int, inFlight ...int) plan.Ladder {
	l := batchLadder("load", 1, 1, requests, inFlight...)
	l.Axis = plan.AxisConcurrency
	for i, n := range inFlight {
		l.Rungs[i].Shape.Batch, l.Rungs[i].Shape.InFlight, l.Rungs[i].Warmup = 1, n, n
	}
	return l
}

func config(f *memnet.Listener, ladders ...plan.Ladder) Config {
	p := plan.Plan{Format: plan.Format, Experiment: "e", Seed: 1,
		Target: plan.Target{API: plan.OpenAIEmbeddings, URL: "http://127.0.0.1:8000", HasURL: true, Model: "m", Timeout: plan.Timeout{Connect: plan.Duration(time.Second), Request: plan.Duration(time.Minute)}},
		GPU:    plan.GPU{Interval: plan.Duration(200 * time.Millisecond)}}
	c := plan.Cell{Ladders: ladders}
	p.Cells = []plan.Cell{c}
	return Config{Plan: p, Cell: c, Dial: f.Dial}
}

// chatConfig asks for chats of 20 input tokens and some output tokens.
func chatConfig(f *memnet.Listener, output int) Config {
	l := batchLadder("chat", 1, 2, 1, 1)
	l.Axis, l.Prompt.Exact = plan.AxisConcurrency, true
	l.Rungs[0].Shape = plan.Shape{Batch: 1, InputTokens: 20, OutputTokens: output, InFlight: 1}
	cfg := config(f, l)
	cfg.Plan.Target.API = plan.OpenAIChat
	return cfg
}

// bubble runs a test in virtual time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}

func prepare(t *testing.T, cfg Config) *Prepared {
	t.Helper()
	p, err := Prepare(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// walkAll prepares and runs to the end.
func walkAll(t *testing.T, cfg Config) *tape {
	t.Helper()
	p, out := prepare(t, cfg), &tape{}
	if _, err := p.Run(t.Context(), t.Context(), out.put); err != nil {
		t.Fatal(err)
	}
	return out
}
