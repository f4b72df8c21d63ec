package results_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rung/results"
	"rung/results/resultstest"
	"rung/sinks/record"
	"rung/spec/plan"
)

// report analyses a run by its own rules.
func report(r *resultstest.Recorded) *results.Report {
	return results.Analyse(r.Sealed(), r.Plan.Analysis)
}

func asJSON(t *testing.T, rep *results.Report) string {
	t.Helper()
	b, err := json.MarshalIndent(rep, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// has checks that a text says all of what it must.
func has(t *testing.T, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s does not say %q: %s", what, w, text)
		}
	}
}

func TestSmallRun(t *testing.T) {
	rep := report(resultstest.Small().Run())
	batch, conc := rep.Ladders[0], rep.Ladders[1]
	if *batch.Limit.Value != 4 || batch.Limit.Bound != results.BoundKnee || *batch.Knee.Knee != 8 || *batch.Boundary != 32 || batch.Edge.Value != 64 {
		t.Errorf("batch: limit %+v, knee %+v, boundary %v, edge %+v", batch.Limit, batch.Knee, batch.Boundary, batch.Edge)
	}
	if batch.Edge.Confirmed != "each of 3 further rounds failed too" || batch.PassesDone != 5 || *batch.Knee.Share != 1 {
		t.Errorf("edge %+v, passes %d, share %v", batch.Edge, batch.PassesDone, *batch.Knee.Share)
	}
	if *conc.Limit.Value != 4 || conc.Edge != nil || conc.Boundary != nil || conc.BoundaryReason != "no rung failed" {
		t.Errorf("concurrency: limit %+v, edge %+v, %q", conc.Limit, conc.Edge, conc.BoundaryReason)
	}
	has(t, "verdict", rep.Verdict, "Configure max_batch_size 4", "max_concurrency 4", "64 fails: oom")
	for _, r := range conc.Rungs {
		if !r.Memory.AfterHighWater {
			t.Errorf("concurrency %g: its peak is the batch ladder's, and it is not said", r.Value)
		}
	}
	if g := batch.Rungs[2]; *g.Memory.OverIdleBytes != 4*512*640<<10 || *g.Memory.OverBelowBytes != 2*512*640<<10 {
		t.Errorf("memory at batch 4: %+v", g.Memory)
	}
	h := rep.Memory.Headroom
	want := float64(24*resultstest.GiB) - float64(resultstest.GiB/2) - 0.08*float64(24*resultstest.GiB) - float64(batch.Rungs[2].Memory.PeakBytes) - 4*512*640*1024
	if d := float64(*h.AvailableBytes) - want; d > 1 || d < -1 {
		t.Errorf("available %d, want %.0f", *h.AvailableBytes, want)
	}
	if rep.Baseline.Noisy || rep.Baseline.Latency.N != 60 || *rep.Baseline.IdleBytes != 4*resultstest.GiB {
		t.Errorf("baseline %+v", rep.Baseline)
	}
}

// The order of rows in the files means nothing.
func TestShuffledRowsChangeNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, o := range []resultstest.Options{resultstest.Small(), paged()} {
		r := o.Run()
		want := asJSON(t, report(r))
		for range 3 {
			rng.Shuffle(len(r.Requests), func(i, j int) { r.Requests[i], r.Requests[j] = r.Requests[j], r.Requests[i] })
			rng.Shuffle(len(r.Samples), func(i, j int) { r.Samples[i], r.Samples[j] = r.Samples[j], r.Samples[i] })
			rng.Shuffle(len(r.Metrics), func(i, j int) { r.Metrics[i], r.Metrics[j] = r.Metrics[j], r.Metrics[i] })
			rng.Shuffle(len(r.Events), func(i, j int) { r.Events[i], r.Events[j] = r.Events[j], r.Events[i] })
			if d := cmp.Diff(want, asJSON(t, report(r))); d != "" {
				t.Fatalf("the report changed (-want +got):\n%s", d)
			}
		}
	}
}

// What is written and read back gives the same report.
func TestOpenGivesTheSameReport(t *testing.T) {
	r := paged().Run()
	dir, err := resultstest.Write(r, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	got, err := results.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	got.Dir = r.Dir
	if d := cmp.Diff(asJSON(t, report(r)), asJSON(t, results.Analyse(got, got.Plan.Analysis))); d != "" {
		t.Errorf("the report changed (-want +got):\n%s", d)
	}
	dirs, err := results.Find(filepath.Dir(dir))
	if err != nil || len(dirs) != 1 || dirs[0] != dir {
		t.Errorf("Find: %v, %v", dirs, err)
	}
	if dirs, err = results.Find(dir); err != nil || len(dirs) != 1 || dirs[0] != dir {
		t.Errorf("Find of a run: %v, %v", dirs, err)
	}
	if _, err = results.Find(t.TempDir()); err == nil {
		t.Error("Find in an empty folder, want an error")
	}
}

func TestDamagedRunIsNamed(t *testing.T) {
	dir, err := resultstest.Write(resultstest.Small().Run(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	part := filepath.Join(dir, "gpu", "0001-baseline.parquet")
	if err := os.Truncate(part, 100); err != nil {
		t.Fatal(err)
	}
	_, err = results.Open(dir)
	if err == nil || !strings.Contains(err.Error(), "0001-baseline.parquet") {
		t.Errorf("error %v, want the part's name", err)
	}
}

func TestWithoutGPU(t *testing.T) {
	o := resultstest.Small()
	o.NoGPU = true
	rep := report(o.Run())
	has(t, "memory", rep.Memory.Reason, "memory: unknown, no GPU was sampled")
	for _, r := range rep.Ladders[0].Rungs {
		if r.Memory != nil || r.MemoryReason != "memory: unknown, no GPU was sampled" {
			t.Errorf("rung %g: %+v, %q", r.Value, r.Memory, r.MemoryReason)
		}
	}
	if rep.Memory.Headroom.AvailableBytes != nil || rep.Memory.Headroom.Reason == "" || *rep.Ladders[0].Limit.Value != 4 {
		t.Errorf("headroom %+v, limit %+v", rep.Memory.Headroom, rep.Ladders[0].Limit)
	}
}

func TestGPUWithoutMemory(t *testing.T) {
	r := resultstest.Small().Run()
	for i := range r.Samples {
		r.Samples[i].MemUsedBytes, r.Samples[i].MemTotalBytes, r.Samples[i].MemFreeBytes = nil, nil, nil
	}
	rep := report(r)
	has(t, "memory", rep.Memory.Reason, "its driver gives no memory in use")
	has(t, "idle", rep.Baseline.IdleReason, "memory: unknown")
}

// A server that takes its memory up front shows nothing in use but that.
func TestCase64PreallocatedMemory(t *testing.T) {
	o := resultstest.Small()
	o.Idle = 20 * resultstest.GiB
	o.Used = func(plan.Shape) int64 { return 20*resultstest.GiB + 64<<20 }
	h := report(o.Run()).Memory.Headroom
	if h.AvailableBytes != nil {
		t.Errorf("available %d, want none", *h.AvailableBytes)
	}
	has(t, "headroom", h.Reason, "took its memory up front")
}

// What the probes took before the idle time is not what the model holds by itself.
func TestIdleIsBeforeTheProbes(t *testing.T) {
	run := resultstest.Small().Run()
	before := run.Samples[0]
	used := *before.MemUsedBytes - resultstest.GiB
	before.Place, before.TS, before.MemUsedBytes = record.Place{Phase: record.Probe}, 0, &used
	after := results.Analyse(run.Sealed(), run.Plan.Analysis).Baseline.IdleBytes
	run.Samples = append(run.Samples, before)
	b := results.Analyse(run.Sealed(), run.Plan.Analysis).Baseline
	if b.IdleBytes == nil || *b.IdleBytes != used || b.IdleProbedBytes == nil || *b.IdleProbedBytes != *after {
		t.Errorf("idle %v, after the probes %v; want %d and %d", b.IdleBytes, b.IdleProbedBytes, used, *after)
	}
}

// The idle memory is a median as any other: of an even number of samples the middle of
// the two that are in the middle.
func TestIdleIsAMedian(t *testing.T) {
	run := resultstest.Small().Run()
	var from, to float64
	for _, e := range run.Events {
		switch e.Kind {
		case record.IdleBegin:
			from = e.TS
		case record.IdleEnd:
			to = e.TS
		default:
		}
	}
	run.Samples = slices.DeleteFunc(run.Samples, func(s record.Sample) bool { return s.TS >= from && s.TS <= to })
	for i, gib := range []int64{8, 4, 6, 4} {
		used, s := gib*resultstest.GiB, run.Samples[0]
		s.Place, s.TS, s.MemUsedBytes = record.Place{}, from+(to-from)*float64(i+1)/5, &used
		run.Samples = append(run.Samples, s)
	}
	if b := report(run).Baseline; b.IdleBytes == nil || *b.IdleBytes != 5*resultstest.GiB || b.IdleSamples != 4 {
		t.Errorf("idle %v of %d samples, want 5 GiB of 4", b.IdleBytes, b.IdleSamples)
	}
}

func TestMemoryThatFollowsNoLoad(t *testing.T) {
	o := resultstest.Small()
	o.Used = func(plan.Shape) int64 { return 4 * resultstest.GiB }
	has(t, "headroom", report(o.Run()).Memory.Headroom.Reason, "moved by less than 0.5 % of the card")
}

// Where the best rung leaves too little memory, the limit falls.
func TestLimitFallsByMemory(t *testing.T) {
	o := resultstest.Small()
	o.Used = func(s plan.Shape) int64 { return 4*resultstest.GiB + int64(s.Batch)*3*resultstest.GiB }
	l := report(o.Run()).Ladders[0]
	// At 4 the peak is 16 GiB and the rung above takes 7 more (up to the card's 23); at 2 it is 10 and 6.
	if *l.Limit.Value != 2 || l.Limit.Bound != results.BoundMemory {
		t.Errorf("limit %+v, want 2 by memory", l.Limit)
	}
}

// A card whose samples come in two devices is judged by the fuller one.
func TestFullestDevice(t *testing.T) {
	r := resultstest.Small().Run()
	n := len(r.Samples)
	for i := range n {
		s := r.Samples[i]
		s.Device, s.UUID, s.MemUsedBytes = 1, "GPU-2", new(*s.MemUsedBytes/2)
		r.Samples = append(r.Samples, s)
	}
	if m := report(r).Memory; m.Device != 0 || m.Devices != 2 {
		t.Errorf("device %d of %d, want 0 of 2", m.Device, m.Devices)
	}
}

func TestEdgeAtTheFirstRung(t *testing.T) {
	o := resultstest.Small()
	o.Fails = func(plan.Shape) (record.Outcome, int) { return record.OOM, 1 }
	rep := report(o.Run())
	l := rep.Ladders[0]
	if l.Limit.Value != nil || l.Boundary != nil || l.Knee.Answer != results.NoAnswer {
		t.Errorf("limit %+v, boundary %v, knee %+v", l.Limit, l.Boundary, l.Knee)
	}
	has(t, "boundary", l.BoundaryReason, "look at a single long input before the batch")
	has(t, "verdict", rep.Verdict, "Nothing to configure yet", "look at a single long input")
	has(t, "baseline", rep.Baseline.Verdict, "no single request succeeded")
}

// Timeouts are no outcome of the stop rule, but two of them are more than 1 %.
func TestEdgeByRatio(t *testing.T) {
	o := resultstest.Small()
	o.Fails = func(s plan.Shape) (record.Outcome, int) {
		if s.Batch >= 16 {
			return record.Timeout, 5
		}
		return record.OK, 0
	}
	l := report(o.Run()).Ladders[0]
	if l.Edge.Value != 16 || *l.Boundary != 8 {
		t.Errorf("edge %+v, boundary %v", l.Edge, *l.Boundary)
	}
	has(t, "edge", l.Edge.Reason, "failed, more than the declared ratio")
	if d := cmp.Diff([]results.Failures{{Name: "timeout", N: l.Edge.Failures[0].N}}, l.Edge.Failures); d != "" {
		t.Errorf("failures (-want +got):\n%s", d)
	}
	if l.Knee.Answer != results.NoAnswer && l.Knee.Answer != results.Found {
		t.Errorf("knee %+v", l.Knee)
	}
}

// A failure in a later pass lowers the edge that the first walk found.
func TestLaterPassLowersTheEdge(t *testing.T) {
	r := resultstest.Small().Run()
	n := 0
	for i := range r.Requests {
		q := &r.Requests[i]
		if q.Ladder == "batch" && q.Pass == 3 && q.Value == 32 && q.Phase == record.Measure && n == 0 {
			q.Outcome, n = record.OOM, 1
		}
	}
	l := report(r).Ladders[0]
	if l.Edge.Value != 32 || l.Edge.Pass != 3 || *l.Boundary != 16 {
		t.Errorf("edge %+v, boundary %v, want 32 in the fourth pass", l.Edge, *l.Boundary)
	}
	has(t, "findings", strings.Join(l.Findings, " "), "in pass 4 only", "no further rounds were sent there")
}

func TestFailuresBeganWhileScaling(t *testing.T) {
	o := resultstest.Small()
	o.NoGPU = true
	o.Service = func(plan.Shape) float64 { return 0.01 }
	l := report(o.Run()).Ladders[0]
	has(t, "knee", l.Knee.Reason, "not reached, at least 32: still scaling when failures began")
	if *l.Limit.Value != 32 || l.Limit.Bound != results.BoundEdge {
		t.Errorf("limit %+v, want the boundary", l.Limit)
	}
}

func TestNotReachedAndNoEdge(t *testing.T) {
	o := resultstest.Options{Ladders: []plan.Ladder{resultstest.Ladder("batch", plan.AxisBatch, 1, 4, 5, 1, 2, 4, 8)}}
	o.Service = func(plan.Shape) float64 { return 0.01 }
	rep := report(o.Run())
	l := rep.Ladders[0]
	if l.Limit.Value != nil || *l.Knee.Least != 8 {
		t.Errorf("limit %+v, knee %+v", l.Limit, l.Knee)
	}
	has(t, "verdict", rep.Verdict, "Nothing to configure yet", "at least 8", "extend the ladder upward")
	has(t, "notices", strings.Join(rep.Notices, " "), "drift is unseen")
}

// Throughput grows by half with every doubling, so that the knee is not reached
// before 64 fails; P95 is three times that of one request before that.
func TestLimitByP95(t *testing.T) {
	o := resultstest.Options{Ladders: []plan.Ladder{resultstest.Ladder("concurrency", plan.AxisConcurrency, 3, 1, 40, 1, 2, 4, 8, 16, 32, 64)}}
	o.Slots, o.NoGPU = 64, true
	o.Service = func(s plan.Shape) float64 { return 0.01 * math.Pow(float64(s.InFlight), 0.42) }
	o.Fails = func(s plan.Shape) (record.Outcome, int) {
		if s.InFlight == 64 {
			return record.Reset, 10
		}
		return record.OK, 0
	}
	l := report(o.Run()).Ladders[0]
	if *l.Limit.Value != 8 || l.Limit.Bound != results.BoundP95 || *l.Boundary != 32 {
		t.Errorf("limit %+v, knee %+v", l.Limit, l.Knee)
	}
}

func TestUseOffline(t *testing.T) {
	r := resultstest.Small().Run()
	rules := r.Plan.Analysis
	rules.Use = "offline"
	rep := results.Analyse(r.Sealed(), rules)
	if *rep.Ladders[0].Limit.Value != 8 {
		t.Errorf("limit %+v, want the knee", rep.Ladders[0].Limit)
	}
	has(t, "notices", strings.Join(rep.Notices, " "), "chosen after the data")
}

// Against whose P95 the rule looks is said.
func TestGainAndP95Base(t *testing.T) {
	r := resultstest.Small().Run()
	rules := r.Plan.Analysis
	rules.Knee.Rule = "gain_and_p95"
	k := results.Analyse(r.Sealed(), rules).Ladders[0].Knee
	has(t, "notes", strings.Join(k.Notes, " "), "P95 is held against")
	if k.Answer != results.Found {
		t.Errorf("%+v", k)
	}
}

// A ladder along input_tokens has an edge and no knee; its limit is the longest
// that passed.
func TestInputTokens(t *testing.T) {
	o := resultstest.Options{Ladders: []plan.Ladder{resultstest.Ladder("length", plan.AxisInputTokens, 1, 4, 5, 128, 512, 2048, 8192)}}
	o.Fails = func(s plan.Shape) (record.Outcome, int) {
		if s.InputTokens > 2048 {
			return record.TooLong, 1
		}
		return record.OK, 0
	}
	rep := report(o.Run())
	l := rep.Ladders[0]
	if *l.Limit.Value != 2048 || l.Knee.Answer != results.NoAnswer || l.Setting != "max_input_tokens" {
		t.Errorf("limit %+v, knee %+v", l.Limit, l.Knee)
	}
	has(t, "verdict", rep.Verdict, "max_input_tokens 2048", "8192 fails: too_long")
}

// A rung that the client bound is named, and is neither knee nor best rung.
func TestClientLimitedIsNoKnee(t *testing.T) {
	r := resultstest.Small().Run()
	for i := range r.Requests {
		if q := &r.Requests[i]; q.Ladder == "batch" && q.Value == 8 && q.Phase == record.Measure {
			q.Counted, q.RejectReason = false, "client_limited: 0.91 in flight on average, asked were 1"
		}
	}
	rep := report(r)
	l := rep.Ladders[0]
	if !l.Rungs[3].ClientLimited || l.Rungs[3].LostRounds != 20 || *l.Knee.Best == 8 || *l.Knee.Knee == 8 {
		t.Errorf("rung %+v, knee %+v", l.Rungs[3], l.Knee)
	}
	has(t, "notices", strings.Join(rep.Notices, " "), `"batch" at 8 measured the client`)
	has(t, "findings", strings.Join(l.Findings, " "), "8 left out: client_limited")
}

func TestNoisyBaseline(t *testing.T) {
	r := resultstest.Small().Run()
	for i := range r.Requests {
		if q := &r.Requests[i]; q.Phase == record.Baseline && q.Index%8 == 0 {
			q.DoneTS += 0.1
		}
	}
	rep := report(r)
	if !rep.Baseline.Noisy {
		t.Error("not noisy")
	}
	has(t, "notices", strings.Join(rep.Notices, " "), "noisy: look for other load and clean up first")
}

func TestChatWithoutUsage(t *testing.T) {
	o := resultstest.Options{API: plan.OpenAIChat, Ladders: []plan.Ladder{resultstest.Ladder("concurrency", plan.AxisConcurrency, 1, 1, 40, 1, 2, 4, 8)}}
	rep := report(o.Run())
	if rep.Ladders[0].Unit != "requests/s" || rep.Baseline.SPer1000Completion != nil {
		t.Errorf("unit %s, %v s per 1,000 completion tokens", rep.Ladders[0].Unit, rep.Baseline.SPer1000Completion)
	}
	has(t, "reason", rep.Ladders[0].UnitReason+rep.Baseline.TokensReason, "without usage", "did not count")
	o.Chat = true
	rep = report(o.Run())
	if rep.Ladders[0].Unit != "output tokens/s" || rep.Baseline.SPer1000Completion == nil {
		t.Errorf("unit %s", rep.Ladders[0].Unit)
	}
}
