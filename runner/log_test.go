package runner

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rung/sinks/record"
	"rung/spec/plan"
)

// prints is a server's log that a test writes.
type prints struct {
	mu   sync.Mutex
	said []record.Event
	set  []record.Setting
}

func (p *prints) add(kind record.EventKind, line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said = append(p.said, record.Event{Kind: kind, Reason: line, Time: time.Now()})
}

func (p *prints) Read() []record.Event {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.said
	p.said = nil
	return out
}

func (p *prints) Settings() []record.Setting { return p.set }

// A server that dies of memory breaks its connections and says why in its log alone: the
// failure has that name and the line, the ladder its edge, and the next one is whole.
func TestDeathByMemory(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f, log := newFake(t), &prints{}
		f.answer = func(q asked) said {
			if q.inputs == 4 {
				f.dead.Store(true)
				time.AfterFunc(300*time.Millisecond, func() { log.add(record.LogOOM, "std::bad_alloc") }) // read after the connection broke
				return said{drop: true}
			}
			return said{}
		}
		cfg := config(f.net, batchLadder("batch", 2, 1, 2, 1, 2, 4), batchLadder("next", 1, 1, 2, 1, 2))
		s := &restarts{does: func(int) error { f.dead.Store(false); return nil }, how: "signal: aborted; it printed last:\n  bye"}
		cfg.Log, cfg.Server, cfg.Cell.Server = log, s, &plan.Server{Command: []string{"x"}, Restart: plan.RestartNever}
		for i := range cfg.Cell.Ladders {
			for j := range cfg.Cell.Ladders[i].Rungs {
				cfg.Cell.Ladders[i].Rungs[j].Warmup = 0
			}
		}
		out := walkAll(t, cfg)
		if edges := out.reasons(record.EdgeFound); len(edges) != 1 || edges[0] != "outcome oom in 1 of 1 requests" {
			t.Errorf("%q", edges)
		}
		dead := out.rows(func(r record.Request) bool { return r.Outcome == record.OOM })
		if len(dead) != 1 || !strings.HasPrefix(dead[0].Error, "the server's log: std::bad_alloc; the request: ") || dead[0].Incident == nil {
			t.Errorf("%+v", dead)
		}
		if begin := out.events(record.RestartBegin); len(begin) != 1 || !strings.Contains(begin[0].Reason, "the process ended: signal: aborted; it printed last:   bye") {
			t.Errorf("%+v", begin)
		}
		if lines := out.events(record.LogOOM); len(lines) != 1 || lines[0].Ladder != "batch" || lines[0].Value != 4 || lines[0].TS <= 0 {
			t.Errorf("%+v", lines)
		}
		next := out.rows(phase(record.Measure), func(r record.Request) bool { return r.Ladder == "next" })
		if s.n != 1 || len(next) != 4 || slices.ContainsFunc(next, func(r record.Request) bool { return !r.Counted }) {
			t.Errorf("%d restarts, %d rows of the next ladder", s.n, len(next))
		}
	})
}

// What the log said long before a failure, and failures that say their own cause, are
// left as they are.
func TestLogBlamesNoOther(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f, log := newFake(t), &prints{}
		f.answer = func(q asked) said {
			switch {
			case q.inputs == 1 && q.nth == 3:
				log.add(record.LogOOM, "out of memory, and served all the same")
			case q.inputs == 2 && q.nth == 2:
				return said{status: 500, body: "an error"}
			case q.inputs == 4 && q.nth == 2:
				log.add(record.LogOOM, "out of memory")
				return said{status: 429, body: "queue is full"}
			}
			return said{}
		}
		cfg := config(f.net, batchLadder("batch", 1, 1, 4, 1, 2), batchLadder("next", 1, 1, 4, 4))
		cfg.Log = log
		out := walkAll(t, cfg)
		if n := len(out.rows(func(r record.Request) bool { return r.Outcome == record.OOM })); n != 0 || len(out.events(record.LogOOM)) != 2 {
			t.Errorf("%d rows, %d lines", n, len(out.events(record.LogOOM)))
		}
	})
}

// What the server says of its settings is recorded, and what is not as its command asked
// is warned of.
func TestSettingsInForce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f, log := newFake(t), &prints{set: []record.Setting{{Name: "max_model_len", InForce: "512", Source: "log"}}}
		log.add(record.LogSetting, "max_num_seqs was cut")
		cfg := config(f.net, batchLadder("batch", 1, 1, 1, 1))
		cfg.Log, cfg.Asked = log, &plan.Server{Command: []string{"vllm", "serve", "m", "--max-model-len=1024", "--gpu-memory-utilization=0.9", "--max-num-batched-tokens", "2048"}}
		p := prepare(t, cfg)
		defer p.Close()
		want := []string{
			"the server runs with max_model_len 512 (log), and its command asks for --max-model-len 1024",
			"the server's command leaves these limits open: --max-num-seqs, which the server does not tell: what is measured holds for this version and machine",
			`the server took another setting than it was given: its log: "max_num_seqs was cut"`,
		}
		if got := p.Warnings(); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
		if s := p.Server().Settings; len(s) != 4 || !s[1].Differs || s[1].Name != "max_model_len" || !s[3].Defaults {
			t.Errorf("%+v", s)
		}
	})
}
