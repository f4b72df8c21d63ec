package runner

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"rung/runner/pace"
	"rung/sinks/record"
	"rung/spec/plan"
)

// timed is a ladder of one rung whose rounds have a length.
func timed(length time.Duration, inFlight int) plan.Ladder {
	l := loadLadder(0, inFlight)
	l.Rungs[0].Duration = plan.Duration(length)
	return l
}

// A round of a given length has as many requests as fit, however fast the server is:
// ids are made beside the sending.
func TestDurationOfIDs(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(asked) said { return said{after: 5 * time.Millisecond} }
		out := walkAll(t, config(f.net, timed(10*time.Second, 2)))
		rows := out.rows(phase(record.Measure))
		ends := out.events(record.RoundEnd)
		if len(rows) != 4000 || len(ends) != 1 || ends[0].Verdict != record.Accepted || math.Abs(*ends[0].WallS-10) > 0.01 {
			t.Fatalf("%d rows, %d rounds, %s", len(rows), len(ends), ends[0].Reason)
		}
		begin := out.events(record.RoundBegin)[0].TS
		for i, r := range rows {
			if r.Index != i || r.SentTS-begin >= 10 || !r.Counted {
				t.Fatalf("row %d: %+v", i, r)
			}
		}
	})
}

// Texts are made before the clock starts, since the server counts them. Where they run
// out before the time is up the round is refused, and sent again with twice as many.
func TestDurationOfTexts(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		textOnly(f, 2)
		refuse, within, during := f.answer, false, 0
		f.answer = func(q asked) said {
			s := refuse(q)
			s.after = time.Second
			if within { // ten times as fast as the warm-ups say
				s.after = 100 * time.Millisecond
			}
			return s
		}
		tokenise := tokeniser(2, 0)
		f.tokenise = func(body string) (int, string) {
			if within {
				during++
			}
			return tokenise(body)
		}
		l := timed(10*time.Second, 2)
		l.Reruns = 5
		p := prepare(t, config(f.net, l))
		out := &tape{on: func(it record.Item) {
			if e := it.Event; e != nil && (e.Kind == record.RoundBegin || e.Kind == record.RoundEnd) {
				within = e.Kind == record.RoundBegin
			}
		}}
		if _, err := p.Run(t.Context(), t.Context(), out.put); err != nil {
			t.Fatal(err)
		}
		ends := out.events(record.RoundEnd)
		for i, e := range ends {
			last := i == len(ends)-1
			if (e.Verdict == record.Accepted) != last || !last && !strings.HasPrefix(e.Reason, "client_limited: the prompts that were made beforehand ran out") {
				t.Errorf("round %d: %s %q", i, e.Verdict, e.Reason)
			}
			if sent := *e.OK; !last && sent != 30<<i || last && sent != 200 {
				t.Errorf("round %d: %d sent", i, sent)
			}
		}
		if len(ends) != 4 || during > 0 {
			t.Errorf("%d rounds; the server was asked to count %d times beside them", len(ends), during)
		}
	})
}

// However many and large the requests of a round are, no more than 64 MiB of them are
// held; as many as are sent at once are there in any case.
func TestBodiesHeldAreBounded(t *testing.T) {
	for _, tt := range []struct {
		name     string
		pad      int // bytes that each body has beside its prompt
		n        int
		inFlight int
		held     int
	}{
		{"huge", 2 << 20, 100_000, 1, 31},
		{"huge, without end", 2 << 20, -1, 1, 31},
		{"huge, many at once", 3 << 20, 100_000, 30, 30},
		{"few", 2 << 20, 3, 1, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				cfg := config(newFake(t).net, loadLadder(1, tt.inFlight))
				cfg.Cell.Body = json.RawMessage(`{"pad":"` + strings.Repeat("x", tt.pad) + `"}`)
				r := &run{Prepared: prepare(t, cfg), drain: t.Context(), abort: t.Context()}
				l := cfg.Cell.Ladders[0]
				s, err := r.supply(t.Context(), order{prompt: l.Prompt, shape: l.Rungs[0].Shape, n: tt.n})
				if err != nil {
					t.Fatal(err)
				}
				if n := len(s.calls); n > tt.held || n < tt.held-1 || cap(s.calls) != n {
					t.Errorf("%d bodies are held, room is for %d, want %d", n, cap(s.calls), tt.held)
				}
				if err := s.close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// Requests of an open loop are due when its pace says, and by nothing else.
func TestPoissonIsThePace(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said { return said{after: time.Duration(q.n%9) * 50 * time.Millisecond} }
		l := rateLadder(20*time.Second, 64, 3, 10)
		l.Arrivals = "poisson"
		cfg := config(f.net, l)
		out := walkAll(t, cfg)
		begins := out.events(record.RoundBegin)
		for i, rate := range []float64{3, 10} {
			p, err := pace.New("poisson", rate, cfg.Plan.Draw(plan.Key{Phase: "arrivals", Ladder: "rate", Rung: i}, 0))
			if err != nil {
				t.Fatal(err)
			}
			want := p.Until(20*time.Second, maxDue)
			rows := out.rows(phase(record.Measure), func(r record.Request) bool { return r.Rung == i })
			if len(rows) != len(want) || len(rows) < int(10*rate) {
				t.Fatalf("%d rows at %g a second, the pace has %d", len(rows), rate, len(want))
			}
			for j, r := range rows {
				if due := r.DueTS - begins[i].TS; math.Abs(due-want[j].Seconds()) > 1e-9 || math.Abs(r.SentTS-r.DueTS) > 1e-9 || r.Outcome != record.OK || !r.Counted {
					t.Fatalf("row %d is due at %g, the pace says %g: %+v", j, due, want[j].Seconds(), r)
				}
			}
		}
	})
}

// The first interrupt of an open loop sends no more, and what is in flight comes back.
func TestInterruptDrainsAnOpenLoop(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(asked) said { return said{after: time.Second} }
		l := rateLadder(time.Minute, 64, 10)
		l.Rungs[0].Warmup = 0
		out, s, took := interrupted(t, config(f.net, l), 5050*time.Millisecond, 0)
		rows := out.rows(phase(record.Measure))
		if !s.Interrupted || took < 900*time.Millisecond || took > time.Second || len(rows) != 51 {
			t.Errorf("interrupted %t, %d rows, %s after the interrupt", s.Interrupted, len(rows), took)
		}
		for _, r := range rows {
			if r.Outcome != record.OK || r.Counted || r.RejectReason != "interrupted" {
				t.Errorf("%+v", r)
			}
		}
		if ends := out.reasons(record.LadderEnd); len(ends) != 1 || ends[0] != "interrupted" {
			t.Errorf("%q", ends)
		}
		checkBalanced(t, out)
	})
}

// One that comes while a request is awaited which is not due for long is heeded at
// once, and what was not sent is no row.
func TestInterruptBetweenArrivals(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		l := rateLadder(time.Hour, 4, 0.01)
		l.Rungs[0].Warmup = 0
		out, s, took := interrupted(t, config(f.net, l), 150*time.Second, 0)
		if rows := out.rows(phase(record.Measure)); !s.Interrupted || took != 0 || len(rows) != 2 {
			t.Errorf("interrupted %t, %d rows, %s after the interrupt", s.Interrupted, len(rows), took)
		}
	})
}
