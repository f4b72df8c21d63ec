// Package resultstest makes runs by construction, for the tests of what reads
// them: the same run every time, with no server, no clock and no file.
package resultstest

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"rung/results"
	"rung/sinks/record"
	"rung/spec/plan"
)

// Options shape a run.
type Options struct {
	API     plan.API // OpenAIEmbeddings by default
	Ladders []plan.Ladder
	NoGPU   bool
	Chat    bool // answers carry output tokens
	Idle    int64

	// Fails names what becomes of one request in so many at a shape; "" is none.
	Fails func(plan.Shape) (record.Outcome, int)
	// Service is how long the server works on a request of a shape, in seconds.
	Service func(plan.Shape) float64
	// Slots is how many requests the server works on at once.
	Slots int
	// Used is the memory that a shape takes, in bytes; it is never given back.
	Used func(plan.Shape) int64
	// Noise is the coefficient of variation of the service time.
	Noise float64
	// Seed makes another run of the same kind.
	Seed uint64

	// Stream makes answers come token by token: the first after a share of the service
	// time, the others in even steps.
	Stream bool
	// Server is what rung starts; with one it is started again before every ladder but
	// the first.
	Server *plan.Server
	SLO    *plan.SLO
	// Retests and Confirm are sent at the values of Limits, by ladder.
	Retests []plan.Retest
	Confirm *plan.Check
	Limits  map[string]float64
	// Page is what the server's own metrics show while it works on a shape, by the
	// canonical name; of preemptions, by how much the counter grows a reading. With it
	// the page is read as often as the card.
	Page func(plan.Shape) map[string]float64
	// Card changes a sample that is taken while the server works on a shape.
	Card func(plan.Shape, *record.Sample)
	// Floor makes the run have a self-check, and samples of the client.
	Floor *record.Floor
	// Take takes the requests as they come, which the run then does not have: of one that
	// is too large to be held.
	Take func([]record.Request)
}

// GiB is 2^30 bytes.
const GiB = int64(1) << 30

// Tokens of each input in the runs made here.
const Tokens = 512

// mostInFlight is the cap of the rate ladders made here.
const mostInFlight = 64

// Ladder gives a ladder of one axis over values, walked up, down, up, …. Of a rate
// ladder requests are the seconds of a round.
func Ladder(name string, axis plan.Axis, passes, rounds, requests int, values ...float64) plan.Ladder {
	l := plan.Ladder{
		Name: name, Axis: axis, Prompt: plan.Prompt{Name: "p512"}, Reruns: 3,
		Stop: plan.Stop{Outcomes: []string{"oom", "cuda_error", "reset", "refused"}, FailureRatio: 0.01, ConfirmRounds: 3},
	}
	order := make([]int, len(values))
	for i, v := range values {
		order[i] = i
		shape := plan.Shape{Batch: 1, InputTokens: Tokens, InFlight: 1}
		n := requests
		switch axis {
		case plan.AxisBatch:
			shape.Batch = int(v)
		case plan.AxisConcurrency:
			shape.InFlight = int(v)
			n = max(requests, 10*int(v))
		case plan.AxisInputTokens:
			shape.InputTokens = int(v)
		case plan.AxisOutputTokens:
			shape.OutputTokens = int(v)
		case plan.AxisRate:
			shape.InFlight, n = mostInFlight, 0
		}
		rung := plan.Rung{Index: i, Value: v, Shape: shape, Warmup: 3, Rounds: rounds, Requests: n}
		if axis == plan.AxisRate {
			rung.Duration, l.Arrivals = plan.Duration(time.Duration(requests)*time.Second), "constant"
		}
		l.Rungs = append(l.Rungs, rung)
	}
	for p := range passes {
		o := slices.Clone(order)
		if p%2 == 1 {
			slices.Reverse(o)
		}
		l.Passes = append(l.Passes, plan.Pass{Index: p, Up: p%2 == 0, Order: o})
	}
	return l
}

// Rules are the language's defaults.
func Rules(rule string) plan.Analysis {
	return plan.Analysis{
		Use:  "interactive",
		Knee: plan.Knee{Rule: rule, Elasticity: 0.5, Tie: 0.05, P95Rise: 1.10, Factor: 0.5, Flat: 0.05, Gain: 0.5, P95OverBaseline: 1.5},

		Limit:         plan.Limit{P95Ratio: 3},
		Headroom:      plan.Headroom{ReserveRungs: 1, Safety: 0.08},
		BaselineCheck: plan.BaselineCheck{Interference: 1.5},
		Config:        plan.Config{QueueFactor: 3, TimeoutFactor: 1.5},
	}
}

// Small is a batch ladder that bends at 8, whose 64 runs out of memory, and a
// concurrency ladder beside it, over five passes.
func Small() Options {
	return Options{
		Ladders: []plan.Ladder{
			Ladder("batch", plan.AxisBatch, 5, 4, 5, 1, 2, 4, 8, 16, 32, 64),
			Ladder("concurrency", plan.AxisConcurrency, 3, 1, 40, 1, 2, 4, 8, 16),
		},
		Fails: func(s plan.Shape) (record.Outcome, int) {
			if s.Batch >= 64 {
				return record.OOM, 2
			}
			return record.OK, 0
		},
	}
}

// builder makes the rows of one run.
type builder struct {
	Options
	run   *Recorded
	made  int // requests
	rng   *rand.Rand
	t     float64
	taken int64
	due   float64        // of the next sample
	heart float64        // of the next sample of the client
	paces []record.Yield // of the ladder's rungs

	single float64 // P95 of the baseline's requests

	shape plan.Shape         // that is worked on; without a batch nothing is
	read  float64            // the next reading of the server's page
	count map[string]float64 // its counters
}

const interval = 0.2

// start is when every run begins.
func start() time.Time { return time.Date(2026, 11, 30, 8, 17, 51, 0, time.UTC) }

// Run makes the run. The defaults are a card of 24 GiB that holds 4 GiB of
// weights, a forward of 2 ms and max(10 ms, 4 µs a token), and four slots.
func (o Options) Run() *Recorded {
	o.defaults()
	b := &builder{Options: o, rng: rand.New(rand.NewPCG(7+o.Seed, 11)), taken: o.Idle, count: map[string]float64{}}
	b.run = &Recorded{Run: results.Run{Dir: "results/embed-batch/20261130T081751Z-3fa91c", Manifest: manifest(o), Plan: o.plan(),
		Spec: "experiment \"embed-batch\" {\n  description = \"Where batch stops paying on <one> card\"\n}\n"}}
	raw, err := json.Marshal(b.run.Plan)
	if err != nil {
		panic(err)
	}
	b.run.Manifest.Plan, b.run.Manifest.PlanDigest = raw, b.run.Plan.Digest()
	b.event(record.RunBegin, record.Place{}, nil)
	b.baseline()
	for i, l := range o.Ladders {
		if i > 0 && o.Server != nil {
			b.restart()
		}
		b.ladder(l)
	}
	b.checks()
	b.event(record.RunEnd, record.Place{}, nil)
	ended := start().Add(time.Duration(b.t * float64(time.Second)))
	b.run.Manifest.Ended = &ended
	return b.run
}

func (o *Options) defaults() {
	if o.API == "" {
		o.API = plan.OpenAIEmbeddings
	}
	if o.Idle == 0 {
		o.Idle = 4 * GiB
	}
	if o.Slots == 0 {
		o.Slots = 4
	}
	if o.Noise == 0 {
		o.Noise = 0.02
	}
	if o.Service == nil {
		o.Service = func(s plan.Shape) float64 {
			return 0.002 + math.Max(0.010, 4e-6*float64(s.Batch*s.InputTokens))
		}
	}
	if o.Used == nil {
		o.Used = func(s plan.Shape) int64 { return o.Idle + int64(s.Batch*s.InputTokens)*640<<10 }
	}
	if o.Fails == nil {
		o.Fails = func(plan.Shape) (record.Outcome, int) { return record.OK, 0 }
	}
}

const specHash, workloadHash = "3fa91c77aa", "77aa3fa91c"

func (o Options) plan() plan.Plan {
	shape := plan.Shape{Batch: 1, InputTokens: Tokens, InFlight: 1}
	return plan.Plan{
		Format: plan.Format, Experiment: "embed-batch", Description: "Where batch stops paying on <one> card", Seed: 20261130,
		SpecHash: specHash, WorkloadHash: workloadHash,
		Target:   plan.Target{API: o.API, URL: "http://127.0.0.1:8000", HasURL: true, Model: "nemotron-embed"},
		Analysis: Rules("power"), SLO: o.SLO,
		Cells: []plan.Cell{{
			Baseline: &plan.Baseline{Idle: plan.Duration(2 * time.Second), Prompt: plan.Prompt{Name: "p512"}, Shape: shape, Warmup: 5, Requests: 60},
			Ladders:  o.Ladders, Server: o.Server, Retests: o.Retests, Confirm: o.Confirm,

			WorkloadHash: workloadHash,
		}},
	}
}

func manifest(o Options) record.Manifest {
	total := 24 * GiB
	m := record.Manifest{
		SchemaVersion: record.SchemaVersion, Rung: "0.1.0", Experiment: "embed-batch", RunID: "20261130T081751Z-3fa91c",
		Status: record.Done, SpecHash: specHash, WorkloadHash: workloadHash, Seed: 20261130, Began: start(),
		Host:   record.Host{Name: "bench-1", OS: "linux", Kernel: "6.1", CPU: "EPYC 9354", CPUs: 64},
		Git:    &record.Git{Commit: "1b2c3d4e5f", Clean: true},
		Server: record.Server{Software: "vllm", Version: "0.32.0", Models: []string{"nemotron-embed"}, InputForm: "ids"},
		GPUs:   []record.Device{{UUID: "GPU-5f", Name: "L4", Driver: "580.1", MemTotalBytes: &total, PowerLimitW: new(72.0)}},
		GPU:    record.GPUInfo{Source: "nvml", IntervalS: interval},
		Client: record.Client{Floor: o.Floor, IntervalS: 1},
	}
	if o.Page != nil {
		m.Metrics = &record.MetricsInfo{Page: "http://127.0.0.1:8000/metrics", IntervalS: interval}
	}
	if o.NoGPU {
		m.GPUs, m.GPU = nil, record.GPUInfo{Source: "none", Reason: "source = \"none\""}
	}
	return m
}

func (b *builder) event(kind record.EventKind, p record.Place, fill func(*record.Event)) {
	e := record.Event{Place: p, Time: b.wall(b.t), TS: b.t, Kind: kind}
	if fill != nil {
		fill(&e)
	}
	b.run.Events = append(b.run.Events, e)
}

func (b *builder) wall(t float64) time.Time {
	return start().Add(time.Duration(t * float64(time.Second)))
}

// until moves the clock and samples the card on the way.
func (b *builder) until(t float64, p record.Place) {
	for b.Floor != nil && b.heart <= t {
		b.run.Client = append(b.run.Client, record.ClientSample{
			Place: p, Time: b.wall(b.heart), TS: b.heart, CPUPct: 10 + 20*b.rng.Float64(), StallS: 0.001 * b.rng.Float64(), Goroutines: 20, MemoryBytes: 30 << 20,
		})
		b.heart++
	}
	for b.Page != nil && b.read <= t {
		b.page(b.read, p)
		b.read += interval
	}
	for !b.NoGPU && b.due <= t {
		b.sample(b.due, p, false)
		b.due += interval
	}
	b.t = t
}

func (b *builder) sample(t float64, p record.Place, forced bool) {
	total, used, reserved := 24*GiB, b.taken, GiB/2
	free := total - used - reserved
	s := record.Sample{
		Place: p, Time: b.wall(t), TS: t, Forced: forced, UUID: "GPU-5f", Name: "L4", MemCall: "v2",
		MemTotalBytes: &total, MemUsedBytes: &used, MemFreeBytes: &free, MemReservedBytes: &reserved, UtilGPUPct: new(93.0),
	}
	if b.Card != nil && b.shape.Batch > 0 {
		b.Card(b.shape, &s)
	}
	b.run.Samples = append(b.run.Samples, s)
}

// page reads the server's own metrics, in no particular order.
func (b *builder) page(t float64, p record.Place) {
	values := map[string]float64{}
	if b.shape.Batch > 0 {
		values = b.Page(b.shape)
	}
	for _, name := range []string{"waiting", "running", "kv_usage", "kv_tokens", "preemptions", "batch_size_top_share"} {
		v, kind := values[name], record.Gauge
		switch name {
		case "batch_size_top_share":
			if v == 0 { // a server without histograms of its batches
				continue
			}
		case "preemptions":
			b.count[name] += v
			v, kind = b.count[name], record.Counter
		case "kv_tokens":
			v = 65536
		}
		b.run.Metrics = append(b.run.Metrics, record.ServerSample{Place: p, Time: b.wall(t), TS: t, Series: name, Source: "vllm:" + name, Kind: kind, Value: &v})
	}
}

func (b *builder) baseline() {
	base := b.run.Plan.Cells[0].Baseline
	p := record.Place{Phase: record.Baseline}
	b.event(record.PhaseBegin, p, nil)
	b.event(record.IdleBegin, p, nil)
	b.until(b.t+base.Idle.Seconds(), p)
	b.event(record.IdleEnd, p, nil)
	b.loop(record.Place{Phase: record.Warmup}, base.Shape, base.Warmup)
	var single record.Yield
	give(&single, b.loop(p, base.Shape, base.Requests))
	b.single = single.P95()
	b.event(record.PhaseEnd, p, nil)
}

func (b *builder) ladder(l plan.Ladder) {
	b.event(record.LadderBegin, record.Place{Phase: record.Measure, Ladder: l.Name}, nil)
	edge := len(l.Rungs)
	b.paces = make([]record.Yield, edge)
	for _, pass := range l.Passes {
		for _, i := range pass.Order {
			if i < edge && b.rung(l, pass, i) {
				edge = i
			}
		}
	}
	b.event(record.LadderEnd, record.Place{Phase: record.Measure, Ladder: l.Name}, func(e *record.Event) {
		e.Reason = "last rung"
		if edge < len(l.Rungs) {
			e.Reason = fmt.Sprintf("edge at %g", l.Rungs[edge].Value)
		}
	})
}

func (b *builder) rung(l plan.Ladder, pass plan.Pass, i int) (edge bool) {
	rung := l.Rungs[i]
	p := record.Place{Phase: record.Measure, Ladder: l.Name, Pass: pass.Index, Rung: i, Value: rung.Value}
	b.until(b.t+1, record.Place{})
	b.event(record.RungBegin, p, nil)
	defer func() {
		b.until(b.t+interval, p)
		if !b.NoGPU {
			b.sample(b.t, p, true)
		}
		b.event(record.RungEnd, p, nil)
	}()
	warm := p
	warm.Phase = record.Warmup
	b.loop(warm, rung.Shape, rung.Warmup)
	tally := plan.Tally{ByName: map[string]int{}}
	for round := range rung.Rounds {
		p.Round = round
		give(&b.paces[i], b.round(l, p, rung, &tally))
		if reason := l.Stop.Edge(tally); reason != "" {
			b.event(record.EdgeFound, p, func(e *record.Event) { e.Reason = reason })
			for n := 0; pass.Index == 0 && n < l.Stop.ConfirmRounds; n++ {
				p.Phase, p.Round = record.Confirm, n
				b.round(l, p, rung, &plan.Tally{ByName: map[string]int{}})
			}
			return true
		}
		if reason := b.slow(l, i); reason != "" {
			b.event(record.EdgeFound, p, func(e *record.Event) { e.Reason = reason })
			return true
		}
	}
	return false
}
