package runner

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rung/sinks/record"
	"rung/spec/plan"
)

// dies makes a server that is gone from its nth request on, that one included.
func dies(f *fake, nth int) {
	f.answer = func(q asked) said {
		if q.n < nth {
			return said{}
		}
		_ = f.net.Close()
		return said{drop: true}
	}
}

// A server that stays gone ends the run: its rung is an edge, the other ladders are
// skipped with no edge of their own, and no more is asked of it than a few times.
func TestServerGone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		dies(f, 8)
		p, out := prepare(t, config(f.net, batchLadder("batch", 2, 1, 4, 1, 2), batchLadder("next", 1, 1, 1, 1), loadLadder(4, 1))), &tape{}
		p.alivePause = 7 * time.Second
		_, err := p.Run(t.Context(), t.Context(), out.put)
		if !errors.Is(err, ErrServerGone) || !strings.Contains(err.Error(), "asked 5 times at http://127.0.0.1:8000") {
			t.Errorf("%v", err)
		}
		ends := out.reasons(record.LadderEnd)
		if len(ends) != 3 || !strings.HasPrefix(ends[0], "server_gone: ") || ends[1] != "server_gone" || ends[2] != "server_gone" {
			t.Errorf("%q", ends)
		}
		if d := cmp.Diff([]string{"outcome reset in 1 of 1 requests"}, out.reasons(record.EdgeFound)); d != "" {
			t.Error(d)
		}
		if end := out.events(record.RunEnd); len(end) != 1 || end[0].Reason != err.Error() || end[0].TS < 28 || end[0].TS > 33 {
			t.Errorf("%+v", end)
		}
		if n := len(out.rows(phase(record.Confirm))); n != 0 {
			t.Errorf("%d requests to confirm what no longer answers", n)
		}
	})
}

// One that died in the baseline, between rounds, or by no rule's outcome, is gone
// all the same.
func TestServerGoneElsewhere(t *testing.T) {
	baseline := &plan.Baseline{Prompt: plan.Prompt{Name: "p"}, Shape: plan.Shape{Batch: 1, InputTokens: 16, InFlight: 1}, Warmup: 1, Requests: 5}
	for name, set := range map[string]func(c *Config, f *fake){
		"baseline": func(c *Config, f *fake) { c.Cell.Baseline = baseline; dies(f, 4) },
		"no rule": func(c *Config, f *fake) {
			for i := range c.Cell.Ladders {
				c.Cell.Ladders[i].Stop = plan.Stop{FailureRatio: 1}
			}
			dies(f, 4)
		},
		"holding its connections": func(_ *Config, f *fake) {
			f.answer = func(q asked) said {
				if q.n < 4 {
					return said{}
				}
				_ = f.net.Close()
				return said{after: 24 * time.Hour}
			}
		},
		"while texts are counted": func(_ *Config, f *fake) {
			textOnly(f, 2)
			count, n := tokeniser(2, 0), 0
			f.tokenise = func(body string) (int, string) {
				if n++; n > 12 {
					_ = f.net.Close()
					return 500, "dying"
				}
				return count(body)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f := newFake(t)
				cfg := config(f.net, batchLadder("batch", 1, 9, 4, 1, 2), batchLadder("next", 1, 1, 1, 1))
				set(&cfg, f)
				p, out := prepare(t, cfg), &tape{}
				if name == "while texts are counted" {
					f.server.SetKeepAlivesEnabled(false) // else its open connection outlives its listener
				}
				_, err := p.Run(t.Context(), t.Context(), out.put)
				if !errors.Is(err, ErrServerGone) {
					t.Errorf("%v", err)
				}
				if ends := out.reasons(record.LadderEnd); len(ends) != 2 || ends[1] != "server_gone" {
					t.Errorf("%q", ends)
				}
				checkEnds(t, out)
			})
		})
	}
}

// checkEnds is checkBalanced for runs in which ladders are skipped.
func checkEnds(t *testing.T, out *tape) {
	t.Helper()
	for begin, end := range map[record.EventKind]record.EventKind{record.RunBegin: record.RunEnd, record.PhaseBegin: record.PhaseEnd, record.RungBegin: record.RungEnd, record.RoundBegin: record.RoundEnd, record.PassBegin: record.PassEnd} {
		if b, e := len(out.events(begin)), len(out.events(end)); b != e {
			t.Errorf("%d %s, %d %s", b, begin, e, end)
		}
	}
}

// A server that breaks one connection and answers again goes on.
func TestServerComesBack(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said { return said{drop: q.inputs == 2 && q.nth == 3} }
		l := batchLadder("batch", 1, 1, 4, 1, 2)
		out := walkAll(t, config(f.net, l, batchLadder("next", 1, 1, 1, 1)))
		if d := cmp.Diff([]string{"edge at 2", "last rung"}, out.reasons(record.LadderEnd)); d != "" {
			t.Error(d)
		}
		if n := len(out.rows(phase(record.Confirm))); n != 3*4 {
			t.Errorf("%d confirming requests", n)
		}
		for _, r := range out.rows(phase(record.Measure)) {
			if r.Outcome != record.OK && (r.Outcome != record.Reset || r.Status != nil || r.Stage != record.StageFirstByte) {
				t.Errorf("%+v", r)
			}
		}
	})
}

// A server that takes connections and says nothing is gone as well, and is not
// waited for as long as for an answer.
func TestServerHangs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said { return said{drop: q.n > 3} }
		hang := make(chan struct{})
		p, out := prepare(t, config(f.net, batchLadder("batch", 1, 1, 4, 1))), &tape{}
		f.hang = hang
		defer close(hang)
		begin := time.Now()
		if _, err := p.Run(t.Context(), t.Context(), out.put); !errors.Is(err, ErrServerGone) {
			t.Error(err)
		}
		if took := time.Since(begin); took > 40*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

// One that only lets requests wait too long is busy, and the ladder goes on to its
// edge by the rules.
func TestServerIsBusy(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			if q.inputs == 2 {
				return said{after: 24 * time.Hour}
			}
			return said{}
		}
		p, out := prepare(t, config(f.net, batchLadder("batch", 1, 1, 4, 1, 2, 4), batchLadder("next", 1, 1, 1, 1))), &tape{}
		f.hang = make(chan struct{})
		defer close(f.hang)
		if _, err := p.Run(t.Context(), t.Context(), out.put); err != nil {
			t.Error(err)
		}
		if d := cmp.Diff([]string{"edge at 2", "last rung"}, out.reasons(record.LadderEnd)); d != "" {
			t.Error(d)
		}
	})
}
