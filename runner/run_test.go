package runner

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rung/runner/memnet"
	"rung/runner/sim"
	"rung/sinks/record"
	"rung/spec/plan"
)

// whole is a plan with all there is: a baseline, a batch ladder that ends out of
// memory, and a concurrency ladder.
func whole(n *memnet.Listener) (Config, plan.Simulator) {
	cfg := config(n, batchLadder("batch", 3, 2, 2, 1, 2, 4, 8), loadLadder(20, 1, 2, 4))
	cfg.Cell.Baseline = &plan.Baseline{Idle: plan.Duration(10 * time.Second), Prompt: plan.Prompt{Name: "p"}, Shape: plan.Shape{Batch: 1, InputTokens: 16, InFlight: 1}, Warmup: 2, Requests: 5}
	p := plan.DefaultSimulator()
	p.Noise, p.MemoryIdle, p.MemoryPerToken, p.MemoryTotal = 0, 1000, 1, 1000+100 // a batch of 8·16 tokens is too much
	return cfg, p
}

// simulate runs a plan against the simulated server and gives its log too.
func simulate(t *testing.T, cfg Config, params plan.Simulator, n *memnet.Listener) (*tape, []sim.Entry) {
	t.Helper()
	var log bytes.Buffer
	s := sim.Serve(t.Context(), n, sim.Config{Params: params, Model: "m", Log: &log})
	cfg.Sampler = s.Card()
	p, err := Prepare(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	out := &tape{}
	if _, err := p.Run(t.Context(), t.Context(), out.put); err != nil {
		t.Fatal(err)
	}
	p.Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	var entries []sim.Entry
	for dec := json.NewDecoder(&log); ; {
		var e sim.Entry
		if err := dec.Decode(&e); err == io.EOF {
			return out, entries
		} else if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
}

// Everything that is sent is a row, once, with the tokens that the server counted,
// and the same plan sends the same bytes again.
func TestEverythingSentIsARow(t *testing.T) {
	var runs [][]string
	for range 2 {
		bubble(t, func(t *testing.T) {
			n := memnet.Listen()
			cfg, params := whole(n)
			out, log := simulate(t, cfg, params, n)
			byHash := map[string][]sim.Entry{}
			for _, e := range log {
				byHash[e.BodySHA256] = append(byHash[e.BodySHA256], e)
			}
			rows := out.rows()
			ids := map[string]bool{}
			var hashes []string
			for _, r := range rows {
				ids[r.ID] = true
				hashes = append(hashes, r.BodySHA256)
				e := byHash[r.BodySHA256]
				if len(e) != 1 || *r.Status != e[0].Status || r.Inputs != e[0].Inputs || r.InputTokensPlanned != e[0].InputTokens {
					t.Fatalf("row %+v, the server's log says %+v", r, e)
				}
			}
			if len(rows) != len(log) || len(ids) != len(rows) {
				t.Errorf("%d rows with %d ids, the server saw %d requests", len(rows), len(ids), len(log))
			}
			ticks := 0
			for _, it := range out.items {
				if it.Tick != nil {
					ticks++
				}
			}
			if probes := len(out.rows(phase(record.Probe))); ticks != len(rows)-probes || probes == 0 {
				t.Errorf("%d ticks, %d rows, %d probes", ticks, len(rows), probes)
			}
			runs = append(runs, hashes)
		})
	}
	if d := cmp.Diff(runs[0], runs[1]); d != "" {
		t.Errorf("the same plan sent other bytes: %s", d)
	}
}

// The walk of a whole run: what each rung had, where the ladder ended and what the
// samples saw.
func TestWholeRun(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := memnet.Listen()
		cfg, params := whole(n)
		out, _ := simulate(t, cfg, params, n)

		type visited struct {
			Ladder string
			Pass   int
			Value  float64
		}
		var walk []visited
		for _, e := range out.events(record.RungBegin) {
			walk = append(walk, visited{e.Ladder, e.Pass, e.Value})
		}
		want := []visited{{"batch", 0, 1}, {"batch", 0, 2}, {"batch", 0, 4}, {"batch", 0, 8}, {"batch", 1, 4}, {"batch", 1, 2}, {"batch", 1, 1},
			{"batch", 2, 1}, {"batch", 2, 2}, {"batch", 2, 4}, {"load", 0, 1}, {"load", 0, 2}, {"load", 0, 4}}
		if d := cmp.Diff(want, walk); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff([]string{"edge at 8", "last rung"}, out.reasons(record.LadderEnd)); d != "" {
			t.Error(d)
		}
		checkBalanced(t, out)
		for _, r := range out.rows() {
			if r.Counted != (r.Phase == record.Baseline || r.Phase == record.Measure || r.Phase == record.Confirm) {
				t.Errorf("counted %t: %+v", r.Counted, r)
			}
			if r.DueTS > r.SentTS || r.SentTS > r.DoneTS || r.FirstByteTS == nil || *r.FirstByteTS > r.DoneTS || *r.FirstByteTS < r.SentTS {
				t.Errorf("times out of order: %+v", r)
			}
		}
		// 2 ms + max(10 ms, tokens·4 µs), exactly, in virtual time.
		for _, r := range out.rows(phase(record.Baseline)) {
			if d := r.LatencyS() - 0.012; d > 1e-9 || d < -1e-9 {
				t.Errorf("latency %g", r.LatencyS())
			}
		}
		for _, e := range out.events(record.RoundEnd) {
			if e.Ladder == "load" && (*e.MeanInFlight < e.Value-1e-9 || *e.MeanInFlight > e.Value+1e-9) {
				t.Errorf("at %g in flight the mean is %g", e.Value, *e.MeanInFlight)
			}
		}
		peaks := map[float64]int64{}
		for _, s := range out.samples() {
			if s.Ladder == "batch" && s.Pass == 0 {
				peaks[s.Value] = max(peaks[s.Value], *s.MemUsedBytes)
			}
		}
		if d := cmp.Diff(map[float64]int64{1: 1016, 2: 1032, 4: 1064, 8: 1064}, peaks); d != "" {
			t.Error(d)
		}
	})
}

// checkBalanced holds that every begin has its end, at the same place and in order.
func checkBalanced(t *testing.T, out *tape) {
	t.Helper()
	ends := map[record.EventKind]record.EventKind{record.RunEnd: record.RunBegin, record.PhaseEnd: record.PhaseBegin, record.IdleEnd: record.IdleBegin,
		record.LadderEnd: record.LadderBegin, record.PassEnd: record.PassBegin, record.RungEnd: record.RungBegin, record.RoundEnd: record.RoundBegin}
	type open struct {
		kind record.EventKind
		at   record.Place
	}
	var stack []open
	last := 0.0
	for _, it := range out.items {
		e := it.Event
		if e == nil {
			continue
		}
		if e.TS < last {
			t.Errorf("%s at %g, after %g", e.Kind, e.TS, last)
		}
		last = e.TS
		if begin, ok := ends[e.Kind]; ok {
			if len(stack) == 0 || stack[len(stack)-1] != (open{begin, e.Place}) {
				t.Fatalf("%s at %+v closes %+v", e.Kind, e.Place, stack)
			}
			stack = stack[:len(stack)-1]
			continue
		}
		for _, begin := range ends {
			if e.Kind == begin {
				stack = append(stack, open{begin, e.Place})
			}
		}
	}
	if len(stack) > 0 {
		t.Errorf("never ended: %+v", stack)
	}
}

// Rows belong to their rounds: each has its index, and each round all of them.
func TestRowsAreInOrder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said { return said{after: time.Duration(10+q.n%7) * time.Millisecond} }
		out := walkAll(t, config(f.net, loadLadder(30, 8)))
		var got []int
		for _, r := range out.rows(phase(record.Measure)) {
			got = append(got, r.Index)
		}
		want := make([]int, 30)
		for i := range want {
			want[i] = i
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v", got)
		}
	})
}

// Chats on two slots, with the truth by construction: one alone takes 2 ms + 10 ms
// + 8·1 ms, and four in flight wait for each other.
func TestChatsOnSlots(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := memnet.Listen()
		l := loadLadder(40, 1, 2, 4)
		for i := range l.Rungs {
			l.Rungs[i].Shape.InputTokens, l.Rungs[i].Shape.OutputTokens = 30, 8
		}
		cfg := config(n, l)
		cfg.Plan.Target.API = plan.OpenAIChat
		params := plan.DefaultSimulator()
		params.Noise, params.Slots = 0, 2
		out, log := simulate(t, cfg, params, n)
		if len(log) != len(out.rows()) {
			t.Errorf("%d rows, the server saw %d", len(out.rows()), len(log))
		}
		for _, e := range log {
			if e.InputTokens != 30 || e.OutputTokens != 8 || e.Status != 200 {
				t.Errorf("%+v", e)
			}
		}
		want := map[float64]float64{1: 0.020, 2: 0.020, 4: 0.040}
		for _, r := range out.rows(phase(record.Measure)) {
			if d := r.LatencyS() - want[r.Value]; r.Index >= 4 && (d > 1e-9 || d < -1e-9) || *r.OutputTokens != 8 || !r.Counted {
				t.Errorf("at %g: %g s, %+v", r.Value, r.LatencyS(), r)
			}
		}
	})
}
