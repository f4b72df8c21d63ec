package runner

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rung/runner/memnet"
	"rung/runner/sim"
	"rung/sinks/record"
	"rung/spec/plan"
)

// startSim starts a simulated server in the bubble.
func startSim(t *testing.T, params plan.Simulator, seed int64) (*memnet.Net, *sim.Server) {
	t.Helper()
	n := &memnet.Net{}
	ln, _ := n.Listen(t.Context())
	s := sim.Serve(t.Context(), ln, sim.Config{Params: params, Seed: seed, Model: "m", Listen: n.Listen, Gather: time.Microsecond})
	t.Cleanup(func() { _ = s.Close() })
	return n, s
}

// hour is an experiment of three ladders and five passes: more than an hour of pauses
// and over 20,000 requests.
func hour(n *memnet.Net, s *sim.Server) Config {
	const pause = plan.Duration(time.Minute)
	batch := batchLadder("batch", 5, 20, 20, 1, 2, 4, 8)
	load := loadLadder(0, 1, 2, 4, 8, 16, 32)
	load.Passes = batchLadder("", 5, 1, 1, 1, 2, 4, 8, 16, 32).Passes
	for i := range load.Rungs {
		load.Rungs[i].Requests = max(40, 10*load.Rungs[i].Shape.InFlight)
	}
	rate := rateLadder(30*time.Second, 64, 10, 20, 40)
	rate.Passes, rate.Arrivals = batchLadder("", 5, 1, 1, 1, 2, 4).Passes, "poisson"
	cfg := config(memnet.Listen(), batch, load, rate)
	for i := range cfg.Cell.Ladders {
		l := &cfg.Cell.Ladders[i]
		l.Cooldown, l.Reruns = pause, 2
		l.Stop = plan.Stop{FailureRatio: 1, ConfirmRounds: 3}
	}
	cfg.Cell.Baseline = &plan.Baseline{Idle: plan.Duration(10 * time.Second), Prompt: batch.Prompt, Warmup: 5, Requests: 60,
		Shape: plan.Shape{Batch: 1, InputTokens: 16, InFlight: 1}}
	cfg.Cell.Server = &plan.Server{Command: []string{"simulated"}, Restart: plan.RestartLadder}
	cfg.Plan.Cells[0] = cfg.Cell
	cfg.Plan.Target.Timeout.Request = plan.Duration(30 * time.Second)
	cfg.Dial, cfg.Server, cfg.Sampler = n.Dial, s, s.Card()
	cfg.Plan.GPU.Interval = plan.Duration(time.Second)
	return cfg
}

// eachFault falls on one request; a server that dies does so near the end.
func eachFault() []plan.Fault {
	var out []plan.Fault
	for i, kind := range plan.FaultKinds() {
		f := plan.Fault{Kind: kind, From: 500 + 300*i, Times: 1} // where one at a time is in flight

		if kind == plan.FaultDie {
			f.From = 20_000
		}
		if kind == plan.FaultInterference {
			f = plan.Fault{Kind: kind, At: plan.Duration(20 * time.Minute), For: plan.Duration(time.Minute), Factor: 1.5}
		}
		out = append(out, f)
	}
	return out
}

// An hour of virtual time, three ladders, five passes, more than 20,000 requests and
// each fault once: two runs are the same, row by row, but for the wall clock.
func TestHourTwice(t *testing.T) {
	once := func() (rows []record.Request, last float64) {
		bubble(t, func(t *testing.T) {
			params := plan.DefaultSimulator()
			params.Faults = eachFault()
			n, s := startSim(t, params, 1)
			cfg := hour(n, s)
			p, out := prepare(t, cfg), &tape{}
			if _, err := p.Run(t.Context(), t.Context(), out.put); err != nil {
				t.Error(err)
			}
			rows, last = out.rows(), out.events(record.RunEnd)[0].TS
			if restarts := len(out.events(record.RestartEnd)); restarts != 3 {
				t.Errorf("%d restarts: two before ladders and one after the death", restarts)
			}
		})
		return rows, last
	}
	first, took := once()
	second := first
	if !raced { // under the race detector one run is long enough
		second, _ = once()
	}
	if len(first) < 20_000 || took < 3600 {
		t.Errorf("%d rows in %.0f s", len(first), took)
	}
	outcomes := map[record.Outcome]int{}
	for i := range first {
		outcomes[first[i].Outcome]++
	}
	for _, rows := range [][]record.Request{first, second} {
		// Which of those that are sent at one instant gets which connection or goes first, and
		// so ends the gap, and whether one goes before the last has come back, is the
		// scheduler's affair.
		gaps := map[float64]*float64{}
		for i := range rows {
			if g := rows[i].GapS; g != nil && *g != 0 {
				gaps[rows[i].SentTS] = g
			}
		}
		for i := range rows {
			rows[i].Time, rows[i].ConnReused, rows[i].GapS = time.Time{}, false, gaps[rows[i].SentTS]
		}
	}
	t.Logf("%d rows, %.0f s: %v", len(first), took, outcomes)
	if len(first) != len(second) {
		t.Fatalf("%d rows, then %d", len(first), len(second))
	}
	differ := 0
	for i := range first {
		if reflect.DeepEqual(first[i], second[i]) {
			continue
		}
		if differ++; differ < 4 {
			t.Errorf("row %d (-first +second):\n%s", i, cmp.Diff(first[i], second[i]))
		}
	}
	if differ > 0 {
		t.Errorf("%d rows differ", differ)
	}
	for _, o := range []record.Outcome{record.Timeout, record.Reset, record.BadResponse, record.ServerError, record.RateLimited} {
		if !slices.Contains(outcomesOf(outcomes), o) {
			t.Errorf("no %s among %v", o, outcomes)
		}
	}
}

func outcomesOf(counts map[record.Outcome]int) []record.Outcome {
	var out []record.Outcome
	for o := range counts {
		out = append(out, o)
	}
	return out
}
