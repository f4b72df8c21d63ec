package progress

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"rung/sinks/record"
	"rung/spec/plan"
)

var update = flag.Bool("update", false, "write the golden files")

// cell has a baseline and a ladder of two rungs in two passes.
func cell() plan.Cell {
	rung := func(i int, batch float64) plan.Rung {
		return plan.Rung{Index: i, Value: batch, Shape: plan.Shape{Batch: int(batch), InputTokens: 16, InFlight: 1}, Warmup: 1, Rounds: 2, Requests: 3}
	}
	return plan.Cell{
		Baseline: &plan.Baseline{Idle: plan.Duration(10 * time.Second), Shape: plan.Shape{Batch: 1, InFlight: 1}, Warmup: 1, Requests: 3},
		Ladders: []plan.Ladder{{Name: "batch", Axis: plan.AxisBatch, Rungs: []plan.Rung{rung(0, 4), rung(1, 8)}, Cooldown: plan.Duration(3 * time.Second),
			Passes: []plan.Pass{{Index: 0, Up: true, Order: []int{0, 1}}, {Index: 1, Order: []int{1, 0}}}}},
	}
}

// script plays a run to a sink: time goes on with each item.
type script struct {
	s   *Sink
	now time.Time
}

func (p *script) put(it record.Item) {
	p.now = p.now.Add(time.Second)
	_ = p.s.Write(it)
}

func (p *script) event(k record.EventKind, at record.Place, reason string) {
	e := &record.Event{Place: at, Kind: k, Reason: reason}
	if k == record.RoundEnd {
		e.Verdict = record.Accepted
		if reason != "" {
			e.Verdict = record.Rejected
		}
	}
	p.put(record.Item{Event: e})
}

func (p *script) ticks(at record.Place, outcome record.Outcome, latencies ...float64) {
	for i, l := range latencies {
		p.put(record.Item{Tick: &record.Tick{Place: at, Ended: i + 1, Of: len(latencies), LatencyS: l, Outcome: outcome, Inputs: max(1, int(at.Value)), InFlight: 1}})
	}
}

func (p *script) memory(at record.Place, gib float64) {
	p.put(record.Item{Sample: &record.Sample{Place: at, MemUsedBytes: new(int64(gib * (1 << 30)))}})
}

func newScript(w *strings.Builder, o Options) *script {
	p := &script{now: time.Unix(0, 0)}
	o.Now = func() time.Time { return p.now }
	p.s = New(w, plan.Plan{Target: plan.Target{API: plan.OpenAIEmbeddings}}, cell(), o)
	return p
}

// play is a whole run: a baseline, a rung with a refused round, an edge, a later
// pass, an interrupt.
func (p *script) play() {
	base := record.Place{Phase: record.Baseline}
	warm := func(at record.Place) record.Place { at.Phase = record.Warmup; return at }
	p.event(record.RunBegin, record.Place{}, "")
	p.event(record.Warning, record.Place{}, "the server says \x1b[31mred\u202e\nand more")
	p.event(record.PhaseBegin, base, "")
	p.event(record.IdleBegin, base, "")
	p.memory(base, 4)
	p.ticks(warm(base), record.OK, 9)
	p.event(record.RoundBegin, base, "")
	p.ticks(base, record.OK, 0.010, 0.011, 0.012)
	p.event(record.RoundEnd, base, "")
	p.event(record.PhaseEnd, base, "")
	ladder := record.Place{Phase: record.Measure, Ladder: "batch"}
	p.event(record.LadderBegin, ladder, "")
	at := ladder
	at.Value = 4
	p.event(record.RungBegin, at, "")
	p.ticks(warm(at), record.OK, 5)
	p.event(record.RoundBegin, at, "")
	p.ticks(at, record.OK, 0.8, 0.9, 1)
	p.event(record.RoundEnd, at, "client_limited: 0.50 in flight on average, asked were 1")
	again := at
	again.Attempt = 1
	p.event(record.RoundBegin, again, "")
	p.ticks(again, record.OK, 0.020, 0.021, 0.022)
	p.event(record.RoundEnd, again, "")
	p.memory(at, 6.5)
	p.memory(at, 6.25)
	p.event(record.RungEnd, at, "")
	at = ladder
	at.Rung, at.Value = 1, 8
	p.event(record.RungBegin, at, "")
	p.event(record.RoundBegin, at, "")
	p.ticks(at, record.OK, 1.5)
	p.ticks(at, record.OOM, 0.1)
	p.event(record.RoundEnd, at, "")
	p.event(record.EdgeFound, at, "outcome oom in 1 of 2 requests")
	confirm := at
	confirm.Phase = record.Confirm
	p.ticks(confirm, record.OOM, 0.1)
	p.event(record.RungEnd, at, "")
	at = ladder
	at.Pass, at.Value = 1, 4
	p.event(record.RungBegin, at, "")
	p.ticks(at, record.OK, 0.02)
	p.event(record.RungEnd, at, "")
	p.event(record.LadderEnd, ladder, "edge at 8")
	p.event(record.GPULost, record.Place{}, "GPU is lost")
	p.event(record.Interrupted, record.Place{}, "")
	p.event(record.RunEnd, record.Place{}, "")
	_ = p.s.Close()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Error(d)
	}
}

func TestPlainLines(t *testing.T) {
	var ascii, unicode strings.Builder
	newScript(&ascii, Options{Simulated: true}).play()
	golden(t, "plain.txt", ascii.String())
	for _, r := range ascii.String() {
		if r > 126 || r < ' ' && r != '\n' {
			t.Errorf("%q in a locale without UTF-8", r)
		}
	}
	newScript(&unicode, Options{Simulated: true, UTF8: true}).play()
	if got := strings.ReplaceAll(unicode.String(), " · ", " | "); got != ascii.String() {
		t.Error(cmp.Diff(ascii.String(), got))
	}
}

// The live line is never wider than the terminal, changes at most ten times a
// second and leaves nothing behind.
func TestLiveLine(t *testing.T) {
	for _, columns := range []int{1, 7, 20, 40, 60, 80, 200} {
		var out strings.Builder
		p := newScript(&out, Options{Live: true, UTF8: true, Width: func() int { return columns }})
		p.play()
		frames := 0
		for line := range strings.SplitSeq(out.String(), "\n") {
			parts := strings.Split(line, "\r\x1b[K")
			for i, frame := range parts {
				if strings.Contains(frame, "about") && !strings.Contains(frame, " left") {
					t.Errorf("%d columns: half a figure: %q", columns, frame)
				}
				if i == len(parts)-1 {
					break // a plain line, which the terminal may wrap
				}
				frames++
				if n := utf8.RuneCountInString(frame); n >= columns && n > 0 {
					t.Errorf("%d columns: %q", columns, frame)
				}
			}
		}
		if frames < 10 {
			t.Errorf("%d frames", frames)
		}
		if columns == 200 {
			for _, want := range []string{"batch 4, pass 1/2 · warm-up", "round 1/2 2/3", "confirming the edge", "6.25 GiB", "P95 21.9 ms", "left"} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q never showed", want)
				}
			}
		}
	}
}

func TestLiveLineWithWideName(t *testing.T) {
	if got := fit("批量 batch", 5); got != "批量 " {
		t.Errorf("%q", got)
	}
	if got := fit("abc", 0); got != "" {
		t.Errorf("%q", got)
	}
}

func TestLiveLineIsNotTooQuick(t *testing.T) {
	var out strings.Builder
	p := newScript(&out, Options{Live: true})
	p.s.o.Now = func() time.Time { p.now = p.now.Add(time.Millisecond); return p.now }
	for range 1000 {
		_ = p.s.Write(record.Item{Tick: &record.Tick{Place: record.Place{Phase: record.Measure, Ladder: "batch", Value: 4}, LatencyS: 1, Outcome: record.OK, Inputs: 4, InFlight: 1}})
	}
	if n := strings.Count(out.String(), "\r"); n > 25 || n < 5 {
		t.Errorf("%d frames in a second or two", n)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("closed") }

// No measurement depends on who watches.
func TestBrokenTerminal(t *testing.T) {
	s := New(broken{}, plan.Plan{}, cell(), Options{Live: true, Now: time.Now})
	if err := s.Write(record.Item{Event: &record.Event{Kind: record.RunBegin}}); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// Chats are counted as requests; of four in flight the first four only fill the round:
// four more came in the two seconds after the last of them.
func TestChatsAreRequests(t *testing.T) {
	var out strings.Builder
	c := cell()
	c.Ladders[0].Rungs[0].Shape.InFlight = 4
	s := New(&out, plan.Plan{Target: plan.Target{API: plan.OpenAIChat}}, c, Options{Now: time.Now})
	at := record.Place{Phase: record.Measure, Ladder: "batch", Value: 4}
	_ = s.Write(record.Item{Event: &record.Event{Kind: record.RungBegin, Place: at}})
	for _, ts := range []float64{11, 11.5, 11.5, 12, 12.5, 12.5, 13, 14} {
		_ = s.Write(record.Item{Tick: &record.Tick{Place: at, TS: ts, LatencyS: 2, Outcome: record.OK, InFlight: 4}})
	}
	_ = s.Write(record.Item{Event: &record.Event{Kind: record.RungEnd, Place: at}})
	if !strings.Contains(out.String(), "2.00 requests/s") {
		t.Error(out.String())
	}
}

// The estimate on a plan whose figures can be reckoned by hand.
func TestEstimate(t *testing.T) {
	c := cell()
	c.Ladders[0].Rungs[1].Shape.InFlight = 7
	e := newEstimate(c)
	if _, ok := e.left(); ok {
		t.Error("an estimate before anything was measured")
	}
	want := func(s float64) {
		t.Helper()
		got, ok := e.left()
		if d := got.Seconds() - s; !ok || d > 1e-6 || d < -1e-6 {
			t.Errorf("%s left, want %g s", got, s)
		}
	}
	tick := func(at record.Place, latency float64) {
		k := record.Tick{Place: at, LatencyS: latency, Outcome: record.OK}
		e.see(k)
		if at.Phase == record.Measure || at.Phase == record.Baseline {
			e.learn(k)
		}
	}
	base := record.Place{Phase: record.Baseline}
	tick(base, 1)
	// Baseline: 3 of 4 requests of 1 s. Rung 4: 7 s, no pause before it. Rung 8, two
	// visits: 3 s and 7 requests, 7 at a time. Rung 4 again: 3 s and 7 s.
	want(3 + 7 + 2*(3+1) + 10)
	e.done(base)
	want(7 + 2*(3+1) + 10)
	low := record.Place{Phase: record.Measure, Ladder: "batch", Value: 4}
	warm := low
	warm.Phase = record.Warmup
	tick(warm, 100) // says nothing of what follows, but is one less to come
	want(6 + 2*(3+1) + 10)
	tick(low, 2) // what was measured at a rung holds for it, and for those not seen yet
	tick(low, 4)
	want(4*3 + 2*(3+3) + 3 + 7*3)
	e.done(low)
	high := record.Place{Phase: record.Measure, Ladder: "batch", Rung: 1, Value: 8}
	tick(high, 7)
	want(6*7/7.0 + 3 + 7 + 3 + 7*3)
	e.edge(high)
	want(3 + 7*3)
	e.done(high)
	e.ladderEnd("batch")
	want(0)
}

func TestDigits(t *testing.T) {
	for v, want := range map[float64]string{0: "0.00 ms", 0.0123: "12.3 ms", 0.1234: "123 ms", 0.9999: "1000 ms", 1.234: "1.23 s", 123.4: "123 s"} {
		if got := span(v); got != want {
			t.Errorf("%g: %s, want %s", v, got, want)
		}
	}
	if got := fmt.Sprint(plural(1, "pass", "passes"), " ", plural(2, "pass", "passes")); got != "1 pass 2 passes" {
		t.Error(got)
	}
}

// A run that goes on says so, and what it had done is no more to come.
func TestResumed(t *testing.T) {
	var out strings.Builder
	base := record.Place{Phase: record.Baseline}
	low := record.Place{Phase: record.Measure, Ladder: "batch", Value: 4}
	s := New(&out, plan.Plan{}, cell(), Options{Simulated: true, Past: []record.Event{{Kind: record.PhaseEnd, Place: base}, {Kind: record.RungEnd, Place: low},
		{Kind: record.EdgeFound, Place: record.Place{Ladder: "batch", Rung: 1}}}})
	if err := s.Write(record.Item{Event: &record.Event{Kind: record.Resumed, Reason: "the run had stopped at 3.0 s"}}); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "resumed: the run had stopped at 3.0 s") || !strings.Contains(got, "SIMULATED") {
		t.Errorf("%q", got)
	}
	s.eta.last = 1
	if left, ok := s.eta.left(); !ok || left != 10*time.Second { // rung 4 once more: 3 s and 7 requests of 1 s
		t.Errorf("%s left, %t", left, ok)
	}
}
