package runner

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"rung/sinks/record"
	"rung/spec/plan"
)

// restarts is a server that is started again in ten seconds.
type restarts struct {
	n    int
	does func(n int) error
	how  string
}

func (s *restarts) Restart(context.Context) error {
	time.Sleep(10 * time.Second)
	s.n++
	if s.does != nil {
		return s.does(s.n)
	}
	return nil
}

func (s *restarts) Exited() string { return s.how }

// A server is started again before each ladder but the first, where the spec asks.
func TestRestartBeforeLadders(t *testing.T) {
	for _, tt := range []struct {
		when plan.Restart
		want int
	}{{plan.RestartLadder, 2}, {plan.RestartCell, 0}, {plan.RestartNever, 0}} {
		bubble(t, func(t *testing.T) {
			f := newFake(t)
			cfg := config(f.net, batchLadder("a", 1, 1, 1, 1), batchLadder("b", 1, 1, 1, 1), batchLadder("c", 1, 1, 1, 1))
			s := &restarts{}
			cfg.Server, cfg.Cell.Server = s, &plan.Server{Command: []string{"x"}, Restart: tt.when}
			out := walkAll(t, cfg)
			if n := len(out.events(record.RestartEnd)); s.n != tt.want || n != tt.want {
				t.Errorf("%s: %d restarts, %d on record, want %d", tt.when, s.n, n, tt.want)
			}
		})
	}
}

// A server that dies in a ladder is started once more, whatever the spec says; the
// ladder ends there with its edge, the next is whole, and the run is none that failed.
func TestRestartAfterCrash(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			if q.inputs == 4 {
				f.dead.Store(true)
				return said{drop: true}
			}
			return said{}
		}
		cfg := config(f.net, batchLadder("batch", 2, 1, 2, 1, 2, 4), batchLadder("next", 1, 1, 2, 1, 2))
		s := &restarts{does: func(int) error { f.dead.Store(false); return nil }}
		cfg.Server, cfg.Cell.Server = s, &plan.Server{Command: []string{"x"}, Restart: plan.RestartNever}
		out := walkAll(t, cfg)
		if edges := out.reasons(record.EdgeFound); len(edges) != 1 || !strings.HasPrefix(edges[0], "outcome re") {
			t.Errorf("%q", edges)
		}
		next := out.rows(phase(record.Measure), func(r record.Request) bool { return r.Ladder == "next" })
		if s.n != 1 || len(next) != 4 || slices.ContainsFunc(next, func(r record.Request) bool { return !r.Counted || r.Outcome != record.OK }) {
			t.Errorf("%d restarts, %d rows of the next ladder", s.n, len(next))
		}
		if begin := out.events(record.RestartBegin); len(begin) != 1 || !strings.Contains(begin[0].Reason, "server_gone") {
			t.Errorf("%+v", begin)
		}
	})
}

// One that can't be started again ends the run.
func TestRestartFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		dies(f, 8)
		cfg := config(f.net, batchLadder("batch", 1, 1, 4, 1, 2), batchLadder("next", 1, 1, 1, 1))
		cfg.Server = &restarts{does: func(int) error { return errors.New("exit status 1") }}
		p, out := prepare(t, cfg), &tape{}
		if _, err := p.Run(t.Context(), t.Context(), out.put); !errors.Is(err, ErrServerGone) {
			t.Errorf("%v", err)
		}
		if ends := out.reasons(record.LadderEnd); len(ends) != 2 || ends[1] != "server_gone" {
			t.Errorf("%q", ends)
		}
		if ends := out.reasons(record.RestartEnd); len(ends) == 0 || ends[0] != "exit status 1" {
			t.Errorf("%q", ends)
		}
	})
}
