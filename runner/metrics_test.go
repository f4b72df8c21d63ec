package runner

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rung/runner/memnet"
	"rung/runner/metrics"
	"rung/runner/sim"
	"rung/sinks/record"
	"rung/spec/plan"
)

func (p *tape) server(series string) []record.ServerSample {
	var out []record.ServerSample
	for _, it := range p.items {
		if it.Server != nil && it.Server.Series == series {
			out = append(out, *it.Server)
		}
	}
	return out
}

// meter is a page that is none: each reading takes a while or fails.
type meter struct {
	n     int
	takes func(n int) time.Duration // nil: none
	fails func(n int) bool          // nil: never
}

func (m *meter) Read(ctx context.Context) ([]record.ServerSample, error) {
	m.n++
	n := m.n
	if m.takes != nil {
		select {
		case <-time.After(m.takes(n)):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if m.fails != nil && m.fails(n) {
		return nil, fmt.Errorf("reading %d failed", n)
	}
	return []record.ServerSample{{Series: "running", Value: new(float64(n))}}, nil
}

// metered runs only the readings, for a while.
func metered(t *testing.T, reader MetricsReader, interval, span time.Duration) (*tape, *metering) {
	t.Helper()
	out := &tape{}
	r := &run{Prepared: &Prepared{clock: clock{time.Now()}}, emit: out.put, emitting: newTurn()}
	r.cfg.Plan.Metrics = &plan.Metrics{Interval: plan.Duration(interval)}
	r.at(record.Place{Ladder: "l"})
	m := newMetering(r, reader)
	m.start()
	time.Sleep(span)
	m.stop()
	return out, m
}

// The readings are on a schedule that does not drift, whatever each of them takes.
func TestMeteringDoesNotDrift(t *testing.T) {
	bubble(t, func(t *testing.T) {
		out, m := metered(t, &meter{takes: func(n int) time.Duration { return time.Duration(n%900) * time.Millisecond }}, time.Second, time.Hour+time.Second-time.Millisecond)
		rows := out.server("running")
		if len(rows) != 3601 || m.late != 0 {
			t.Fatalf("%d readings, %d late", len(rows), m.late)
		}
		for i, s := range rows {
			if s.TS != float64(i) || s.Ladder != "l" || s.LateS != 0 || s.Forced {
				t.Fatalf("reading %d: %+v", i, s)
			}
		}
	})
}

// A page that can't be read is a gap with a beginning, a reason and an end.
func TestMeteringGap(t *testing.T) {
	bubble(t, func(t *testing.T) {
		out, m := metered(t, &meter{fails: func(n int) bool { return n >= 3 && n <= 5 || n == 8 }}, time.Second, 7500*time.Millisecond)
		if n := len(out.server("running")); n != 4 {
			t.Errorf("%d readings", n)
		}
		if d := cmp.Diff([]string{"reading 3 failed", "reading 8 failed"}, out.reasons(record.MetricsLost)); d != "" {
			t.Error(d)
		}
		if back := out.events(record.MetricsBack); len(back) != 1 || back[0].TS != 5 || m.lost != "reading 8 failed" {
			t.Errorf("%+v, lost %q", back, m.lost)
		}
	})
}

// A page that takes too long is given up, and at the end of a run it is not waited for.
func TestMeteringGivesUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		begun := time.Now()
		out, m := metered(t, &meter{takes: func(int) time.Duration { return time.Hour }}, 200*time.Millisecond, 2500*time.Millisecond)
		if took := time.Since(begun); took != 2500*time.Millisecond {
			t.Errorf("it took %s", took)
		}
		if lost := out.events(record.MetricsLost); len(lost) != 1 || lost[0].Reason != context.DeadlineExceeded.Error() || m.late != 10 {
			t.Errorf("%+v, %d left out", lost, m.late)
		}
	})
}

// A run whose page is slow, or gone, ends as one without it.
func TestRunWithoutItsPage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		cfg := config(f.net, batchLadder("batch", 1, 1, 5, 1, 2))
		cfg.Plan.Metrics = &plan.Metrics{Interval: plan.Duration(100 * time.Millisecond)}
		cfg.Metrics = &meter{fails: func(int) bool { return true }}
		p, out := prepare(t, cfg), &tape{}
		sum, err := p.Run(t.Context(), t.Context(), out.put)
		if err != nil || sum.MetricsLost == "" || len(out.events(record.MetricsLost)) != 1 {
			t.Errorf("%+v, %v, %d lost", sum, err, len(out.events(record.MetricsLost)))
		}
		if n := len(out.rows(phase(record.Measure))); n != 10 {
			t.Errorf("%d requests", n)
		}
	})
}

// paged is a config whose server's page is read over the same network, each second.
func paged(t *testing.T, cfg Config) Config {
	t.Helper()
	cfg.Plan.Metrics = &plan.Metrics{Path: "/metrics", Interval: plan.Duration(time.Second)}
	reader, err := metrics.New(cfg.Plan, cfg.Secrets, nil)
	if err != nil {
		t.Fatal(err)
	}
	reader.DialBy(cfg.Dial)
	t.Cleanup(reader.Close)
	cfg.Metrics = reader
	return cfg
}

// The simulated server's page is read in virtual time: its queue is seen at the rungs
// that have one, and each rung ends with a reading.
func TestSimulatedServersPage(t *testing.T) {
	bubble(t, func(t *testing.T) {
		net := memnet.Listen()
		params := plan.DefaultSimulator()
		params.MaxBatch = 2
		s := sim.Serve(t.Context(), net, sim.Config{Params: params, Model: "m", Gather: time.Microsecond})
		t.Cleanup(func() { _ = s.Close() })
		l := loadLadder(60, 1, 8)
		for i := range l.Rungs {
			l.Rungs[i].Shape.InputTokens = 512
		}
		cfg := config(memnet.Listen(), l)
		cfg.Dial = net.Dial
		cfg = paged(t, cfg)
		cfg.Plan.Metrics.Interval = plan.Duration(20 * time.Millisecond)
		out := walkAll(t, cfg)
		forced := map[int]bool{}
		most := map[int]float64{}
		for _, w := range out.server("waiting") {
			if w.Ladder == "" {
				continue
			}
			forced[w.Rung] = forced[w.Rung] || w.Forced
			most[w.Rung] = max(most[w.Rung], *w.Value)
		}
		if !forced[0] || !forced[1] || most[0] != 0 || most[1] < 1 {
			t.Errorf("waiting at most %v, forced %v, lost %v", most, forced, out.reasons(record.MetricsLost))
		}
		if total := out.server("prompt_tokens"); len(total) == 0 || *total[len(total)-1].Value == 0 {
			t.Errorf("no prompt tokens: %v", total)
		}
	})
}

// Forty preemptions in a window stand in the table of the server, in the rung that
// they were in: latency that jumps there is the memory's, not the model's.
func TestCase58(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		var preempted atomic.Int64
		f.answer = func(q asked) said {
			if q.inputs == 4 {
				preempted.Add(1)
				return said{after: time.Second}
			}
			return said{after: 100 * time.Millisecond}
		}
		f.metrics = func() string {
			return fmt.Sprintf("# TYPE vllm:num_preemptions_total counter\nvllm:num_preemptions_total{engine=\"0\"} %d\n", 100+preempted.Load())
		}
		l := batchLadder("batch", 1, 1, 40, 1, 4, 8)
		for i := range l.Rungs {
			l.Rungs[i].Warmup = 0
		}
		out := walkAll(t, paged(t, config(f.net, l)))
		ends := map[int]float64{}
		for _, s := range out.server("preemptions") {
			if s.Forced && s.Ladder != "" {
				ends[s.Rung] = *s.Value
			}
			if s.Source != "vllm:num_preemptions_total" || s.Kind != record.Counter {
				t.Fatalf("%+v", s)
			}
		}
		if got := []float64{ends[1] - ends[0], ends[2] - ends[1]}; got[0] != 40 || got[1] != 0 {
			t.Errorf("rises of %v, want 40 and 0", got)
		}
	})
}

// A server that takes its memory at once shows the same at every rung; how much of it
// is in use stands in its own metrics.
func TestCase64UsageIsRecorded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		var inputs atomic.Int64
		usage := map[int]float64{0: 0.1, 1: 0.1, 2: 0.4, 4: 0.97}
		f.answer = func(q asked) said {
			inputs.Store(int64(q.inputs))
			return said{after: 200 * time.Millisecond}
		}
		f.metrics = func() string { return fmt.Sprintf("vllm:kv_cache_usage_perc %g\n", usage[int(inputs.Load())]) }
		cfg := paged(t, config(f.net, batchLadder("batch", 1, 1, 20, 1, 2, 4)))
		cfg.Sampler = flat{used: 73_728 << 20}
		out := walkAll(t, cfg)
		most := map[int]float64{}
		for _, s := range out.server("kv_usage") {
			if s.Phase == record.Measure {
				most[s.Rung] = max(most[s.Rung], *s.Value)
			}
		}
		if d := cmp.Diff(map[int]float64{0: 0.1, 1: 0.4, 2: 0.97}, most); d != "" {
			t.Error(d)
		}
		for _, s := range out.samples() {
			if *s.MemUsedBytes != 73_728<<20 {
				t.Fatalf("%d bytes", *s.MemUsedBytes)
			}
		}
	})
}

// flat is a card whose memory is always the same.
type flat struct{ used int64 }

func (flat) Source() string           { return "fake" }
func (flat) Devices() []record.Device { return []record.Device{{UUID: "GPU-x"}} }
func (flat) Close() error             { return nil }
func (f flat) Sample() ([]record.Sample, error) {
	return []record.Sample{{UUID: "GPU-x", MemUsedBytes: new(f.used)}}, nil
}
