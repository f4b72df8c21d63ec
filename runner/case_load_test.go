package runner

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"rung/runner/self"
	"rung/sinks/record"
	"rung/spec/plan"
)

// rateLadder has requests due at each of the rates.
func rateLadder(length time.Duration, most int, rates ...float64) plan.Ladder {
	l := batchLadder("rate", 1, 1, 0)
	l.Axis, l.Arrivals, l.Reruns = plan.AxisRate, "constant", 0
	for i, x := range rates {
		l.Rungs = append(l.Rungs, plan.Rung{Index: i, Value: x, Shape: plan.Shape{Batch: 1, InputTokens: 16, InFlight: most}, Warmup: 1, Rounds: 1, Duration: plan.Duration(length)})
		l.Passes[0].Order = append(l.Passes[0].Order, i)
	}
	return l
}

func count(rows []record.Request, o record.Outcome) int {
	n := 0
	for _, r := range rows {
		if r.Outcome == o {
			n++
		}
	}
	return n
}

// Of more than a server can do, what has no place in flight is not sent and says so;
// the next rung begins with an empty server.
func TestCase37(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		busy := newTurn() // one at a time, five a second
		f.answer = func(asked) said {
			busy.take()
			defer busy.give()
			time.Sleep(200 * time.Millisecond)
			return said{}
		}
		l := rateLadder(10*time.Second, 8, 100, 2)
		l.Stop = plan.Stop{FailureRatio: 1}
		out := walkAll(t, config(f.net, l))
		first := out.rows(phase(record.Measure), func(r record.Request) bool { return r.Rung == 0 })
		sent := len(first) - count(first, record.Dropped)
		if len(first) != 1000 || sent < 55 || sent > 60 || count(first, record.OK) != sent {
			t.Errorf("%d due, %d sent, %d ok", len(first), sent, count(first, record.OK))
		}
		for i, r := range first {
			if r.Index != i || r.Outcome == record.OK && math.Abs(r.SentTS-r.DueTS) > 1e-9 || !math.IsNaN(r.LatencyS()) != r.Sent() {
				t.Fatalf("row %d: %+v", i, r)
			}
		}
		for _, r := range out.rows(phase(record.Measure), func(r record.Request) bool { return r.Rung == 1 }) {
			if math.Abs(r.LatencyS()-0.201) > 1e-9 || !r.Counted {
				t.Errorf("the next rung waits for the one before: %g s", r.LatencyS())
			}
		}
	})
}

// A server that never answers fills no memory: what may be in flight is bounded, and
// the round ends in its time and the last timeout.
func TestCase39(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			if q.n <= 2 { // the probe and the warm-up
				return said{}
			}
			return said{after: time.Hour}
		}
		l := rateLadder(30*time.Second, 100, 200)
		l.Stop = plan.Stop{FailureRatio: 1}
		cfg := config(f.net, l)
		cfg.Plan.Target.Timeout.Request = plan.Duration(20 * time.Second)
		out := walkAll(t, cfg)
		rows := out.rows(phase(record.Measure))
		if n := count(rows, record.Timeout); len(rows) != 6000 || n != 200 || count(rows, record.Dropped) != 5800 || f.most > 100 {
			t.Errorf("%d due, %d timeouts, %d dropped, %d in flight", len(rows), n, count(rows, record.Dropped), f.most)
		}
		if end := out.events(record.RoundEnd)[0]; *end.WallS > 50.1 {
			t.Errorf("the round took %g s", *end.WallS)
		}
	})
}

// What is in flight when a round's time is up comes back, outside the steady window.
func TestCase42(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(asked) said { return said{after: 10 * time.Second} }
		l := loadLadder(0, 16)
		l.Rungs[0].Duration = plan.Duration(25 * time.Second)
		out := walkAll(t, config(f.net, l))
		rows := out.rows(phase(record.Measure))
		if len(rows) != 48 || count(rows, record.OK) != 48 {
			t.Errorf("%d rows, %d ok: none may be cancelled", len(rows), count(rows, record.OK))
		}
		w := record.RoundOf(rows).SteadyWindow()
		if math.Abs(w.Len()-20) > 0.1 {
			t.Errorf("the steady window is %g s", w.Len())
		}
		end := out.events(record.RoundEnd)[0]
		if math.Abs(*end.WallS-30) > 0.1 || *end.MeanInFlight < 15.9 || end.Verdict != record.Accepted {
			t.Errorf("wall %g s, %g in flight, %s", *end.WallS, *end.MeanInFlight, end.Reason)
		}
	})
}

// No warm-up reaches into a round: the last is done before the first is sent.
func TestCase43(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said { return said{after: time.Duration(q.n%7) * time.Second} }
		out := walkAll(t, config(f.net, loadLadder(20, 1, 4)))
		last := map[int]float64{}
		for _, r := range out.rows(phase(record.Warmup)) {
			last[r.Rung] = max(last[r.Rung], r.DoneTS)
		}
		for _, r := range out.rows(phase(record.Measure)) {
			if r.SentTS < last[r.Rung] {
				t.Errorf("sent at %g, a warm-up was done at %g", r.SentTS, last[r.Rung])
			}
		}
	})
}

// A round whose steady part is hardly longer than its requests is flagged.
func TestCase44(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(asked) said { return said{after: 8 * time.Second} }
		out := walkAll(t, config(f.net, loadLadder(8, 4)))
		end := out.events(record.RoundEnd)[0]
		if end.Verdict != record.Accepted || !strings.Contains(end.Reason, "short window") {
			t.Errorf("%s: %q", end.Verdict, end.Reason)
		}
		g := newFake(t)
		g.answer = func(asked) said { return said{after: time.Second} }
		if end := walkAll(t, config(g.net, loadLadder(40, 4))).events(record.RoundEnd)[0]; end.Reason != "" {
			t.Errorf("ten for each in flight: %q", end.Reason)
		}
	})
}

// The stop rules that look at time say nothing before enough requests are done.
func TestCase49(t *testing.T) {
	for _, tt := range []struct {
		name  string
		least int
		edges int
	}{{"after five", 5, 1}, {"after more than there are", 50, 0}} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f := newFake(t)
				f.answer = func(q asked) said { return said{after: time.Duration(q.inputs*q.inputs) * 10 * time.Second} }
				l := batchLadder("batch", 1, 8, 1, 1, 2)
				l.Stop.MinRequests, l.Stop.P95OverBaseline = tt.least, new(3.0)
				cfg := config(f.net, l)
				cfg.Cell.Baseline = &plan.Baseline{Prompt: l.Prompt, Shape: plan.Shape{Batch: 1, InputTokens: 16, InFlight: 1}, Requests: 5}
				out := walkAll(t, cfg)
				edges := out.reasons(record.EdgeFound)
				if len(edges) != tt.edges || tt.edges == 1 && (!strings.HasPrefix(edges[0], "slow: P95") || len(out.rows(phase(record.Measure))) != 8+tt.least) {
					t.Errorf("%q after %d requests", edges, len(out.rows(phase(record.Measure))))
				}
			})
		})
	}
}

// A fall in throughput ends a ladder where the spec says so.
func TestThroughputDrop(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			if q.inputs == 4 {
				return said{after: 10 * time.Second}
			}
			return said{after: time.Second}
		}
		l := batchLadder("batch", 1, 6, 1, 1, 2, 4, 8)
		l.Stop.MinRequests, l.Stop.ThroughputDrop = 4, new(0.2)
		out := walkAll(t, config(f.net, l))
		if edges := out.reasons(record.EdgeFound); len(edges) != 1 || !strings.HasPrefix(edges[0], "slow: throughput is 0.4 a second, more than 20 % below the 2") {
			t.Errorf("%q", edges)
		}
		if n := len(out.rows(phase(record.Confirm))); n != 0 {
			t.Errorf("%d requests confirm an edge that is no failure", n)
		}
	})
}

// A client that holds back is found by how much is in flight, whatever it says.
func TestCase36(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		serial := newTurn()
		f.answer = func(asked) said {
			serial.take()
			defer serial.give()
			time.Sleep(time.Second)
			return said{}
		}
		// A server that works one by one is no client that does: all are in flight.
		end := walkAll(t, config(f.net, loadLadder(160, 16))).events(record.RoundEnd)[0]
		if end.Verdict != record.Accepted || *end.MeanInFlight < 15.9 {
			t.Errorf("%s: %g in flight", end.Reason, *end.MeanInFlight)
		}
		rows := make([]record.Request, 160)
		for i := range rows {
			rows[i] = record.Request{InFlight: 16, Outcome: record.OK, SentTS: float64(i), DoneTS: float64(i + 1)}
		}
		v := visit{shape: plan.Shape{InFlight: 16}}
		if why := v.thin(result{rows: rows}); !strings.HasPrefix(why, "client_limited: 1.00 in flight") {
			t.Errorf("%q", why)
		}
	})
}

// More requests in flight than this process may have descriptors are refused before
// anything is sent.
func TestCase38(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		cfg := config(f.net, loadLadder(256, 128))
		cfg.Usage = func() self.Usage { return self.Usage{Limit: new(int64(64)), Descriptors: new(9), Cores: 1} }
		_, err := Prepare(t.Context(), cfg)
		if err == nil || !strings.Contains(err.Error(), "128 requests in flight need about 169 descriptors, and this process may open 64") || f.seen() != 0 {
			t.Errorf("%v after %d requests", err, f.seen())
		}
	})
}

// A client that has no time left is named, and not the server.
func TestCase35(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(asked) said { return said{after: time.Second} }
		cfg := config(f.net, loadLadder(40, 4))
		cfg.Cell.Ladders[0].Reruns = 0
		begin := time.Now()
		cfg.Usage = func() self.Usage { return self.Usage{CPU: time.Duration(1.9 * float64(time.Since(begin))), Cores: 2} }
		out := walkAll(t, cfg)
		if end := out.events(record.RoundEnd)[0]; !strings.HasPrefix(end.Reason, "client_limited: rung itself took 95 %") {
			t.Errorf("%q", end.Reason)
		}
		n := 0
		for _, it := range out.items {
			if c := it.Client; c != nil {
				n++
				if math.Abs(c.CPUPct-95) > 0.01 {
					t.Errorf("%+v", c)
				}
			}
		}
		if n < 10 {
			t.Errorf("%d samples of the client in 14 s", n)
		}
	})
	// Sends that are late by more than a request's own time allows.
	rows := make([]record.Request, 100)
	for i := range rows {
		due := float64(i) / 100
		rows[i] = record.Request{Outcome: record.OK, DueTS: due, SentTS: due + 0.004, DoneTS: due + 0.054}
	}
	if why := late(rows); !strings.HasPrefix(why, "client_limited: the P95 of sends was 4.0 ms late") {
		t.Errorf("%q", why)
	}
	for i := range rows {
		rows[i].SentTS = rows[i].DueTS + 0.002
	}
	if why := late(rows); why != "" {
		t.Errorf("2 ms of 52: %q", why)
	}
}

// A wall clock that steps moves no span; the step is on record.
func TestCase41(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(asked) said { return said{after: time.Second} }
		cfg := config(f.net, batchLadder("batch", 1, 1, 10, 1))
		begin := time.Now()
		cfg.Usage = func() self.Usage { return self.Usage{Cores: 1} }
		cfg.Wall = func() time.Time {
			now := time.Now()
			if now.Sub(begin) > 5*time.Second {
				now = now.Add(-25_000 * time.Second)
			}
			return now
		}
		out := walkAll(t, cfg)
		steps := out.events(record.ClockStep)
		if len(steps) != 1 || !strings.Contains(steps[0].Reason, "-25000.000 s") {
			t.Errorf("%+v", steps)
		}
		for _, r := range out.rows(phase(record.Measure)) {
			if math.Abs(r.LatencyS()-1) > 1e-9 {
				t.Errorf("latency %g", r.LatencyS())
			}
		}
		for _, it := range out.items {
			if c := it.Client; c != nil && c.WallStepS != 0 && math.Abs(c.WallStepS+25_000) > 1e-6 {
				t.Errorf("%+v", c)
			}
		}
	})
}

// A 429 is a row and not sent again; its Retry-After, in both forms, is obeyed between
// rounds and not within one.
func TestCase47(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			if q.n == 4 {
				return said{status: http.StatusTooManyRequests, body: "slow down", header: map[string]string{"Retry-After": "2"}}
			}
			return said{}
		}
		l := batchLadder("batch", 1, 2, 3, 1)
		l.Stop = plan.Stop{FailureRatio: 1}
		out := walkAll(t, config(f.net, l))
		rows := out.rows(phase(record.Measure))
		if len(rows) != 6 || rows[1].Outcome != record.RateLimited || *rows[1].RetryAfterS != 2 || rows[2].SentTS-rows[1].DoneTS > 0.01 || f.seen() != 8 {
			t.Errorf("%d rows, %d requests: %+v", len(rows), f.seen(), rows[1])
		}
	})
}

// The pause that a Retry-After asks for lies between two rounds, and is said.
func TestCase48(t *testing.T) {
	for name, header := range map[string]func() string{
		"seconds": func() string { return "2" },
		"a date":  func() string { return time.Now().Add(2 * time.Second).UTC().Format(http.TimeFormat) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f := newFake(t)
				f.answer = func(q asked) said {
					if q.n == 5 {
						return said{status: http.StatusTooManyRequests, body: "slow down", header: map[string]string{"Retry-After": header()}}
					}
					return said{}
				}
				l := batchLadder("batch", 1, 2, 3, 1)
				l.Stop = plan.Stop{FailureRatio: 1}
				out := walkAll(t, config(f.net, l))
				rows := out.rows(phase(record.Measure))
				if gap := rows[3].SentTS - rows[2].DoneTS; gap < 1.9 || gap > 2.1 {
					t.Errorf("%g s between the rounds", gap)
				}
				if w := fmt.Sprint(out.reasons(record.Warning)); !strings.Contains(w, "Retry-After") {
					t.Errorf("%s", w)
				}
			})
		})
	}
}
