package results_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rung/results"
	"rung/results/resultstest"
	"rung/sinks/record"
	"rung/spec/plan"
)

// chat is a concurrency ladder of a generating model.
func chat() *resultstest.Recorded {
	return resultstest.Options{
		API: plan.OpenAIChat, Chat: true, NoGPU: true,
		Ladders: []plan.Ladder{resultstest.Ladder("concurrency", plan.AxisConcurrency, 3, 1, 40, 1, 2, 4, 8)},
	}.Run()
}

// measured changes the measured requests of one rung; those of all for value 0.
func measured(r *resultstest.Recorded, value float64, change func(*record.Request)) {
	for i := range r.Requests {
		if q := &r.Requests[i]; q.Phase == record.Measure && (value == 0 || q.Value == value) {
			change(q)
		}
	}
}

// changeEach changes the requests of a phase.
func changeEach(r *resultstest.Recorded, p record.Phase, change func(*record.Request)) {
	for i := range r.Requests {
		if q := &r.Requests[i]; q.Phase == p {
			change(q)
		}
	}
}

func notices(rep *results.Report) string { return strings.Join(rep.Notices, "\n") }

// A figure that is none is never printed, whatever the rows hold.
func TestNoFigureIsNoNumber(t *testing.T) {
	none := regexp.MustCompile(`NaN|\bInf|[+-]Inf`)
	rules := resultstest.Rules
	for name, c := range map[string]struct {
		change func(*resultstest.Recorded)
		rules  func(*plan.Analysis)
	}{
		"output 0": {change: func(r *resultstest.Recorded) { measured(r, 0, func(q *record.Request) { q.OutputTokens = new(0) }) }},
		"output negative": {change: func(r *resultstest.Recorded) {
			measured(r, 0, func(q *record.Request) { q.OutputTokens = new(-1000000) })
		}},
		"output huge": {change: func(r *resultstest.Recorded) {
			measured(r, 0, func(q *record.Request) { q.OutputTokens = new(math.MaxInt) })
		}},
		"one rung's output 0": {change: func(r *resultstest.Recorded) {
			measured(r, 1, func(q *record.Request) { q.OutputTokens = new(0) })
		}},
		"no time": {change: func(r *resultstest.Recorded) {
			measured(r, 0, func(q *record.Request) { q.DoneTS, q.DueTS = q.SentTS, q.SentTS })
		}},
		"tiny times": {change: func(r *resultstest.Recorded) {
			measured(r, 0, func(q *record.Request) { q.DueTS, q.SentTS, q.DoneTS = 0, 0, 5e-324 })
		}},
		"NaN":         {change: func(r *resultstest.Recorded) { measured(r, 4, func(q *record.Request) { q.DoneTS = math.NaN() }) }},
		"infinite":    {change: func(r *resultstest.Recorded) { measured(r, 4, func(q *record.Request) { q.DueTS = math.Inf(-1) }) }},
		"huge":        {change: func(r *resultstest.Recorded) { measured(r, 4, func(q *record.Request) { q.DoneTS = 1e308 }) }},
		"event":       {change: func(r *resultstest.Recorded) { r.Events[2].TS, r.Events[2].Kind = math.NaN(), record.Warning }},
		"equal":       {change: func(r *resultstest.Recorded) { r.Plan.Cells[0].Ladders[0].Rungs[1].Value = 1 }},
		"value 0":     {change: func(r *resultstest.Recorded) { r.Plan.Cells[0].Ladders[0].Rungs[0].Value = 0 }},
		"value 1e300": {change: func(r *resultstest.Recorded) { r.Plan.Cells[0].Ladders[0].Rungs[3].Value = 1e300 }},
		"baseline 0": {change: func(r *resultstest.Recorded) {
			changeEach(r, record.Baseline, func(q *record.Request) { q.DoneTS = q.DueTS })
		}},

		"elasticity 0":  {rules: func(a *plan.Analysis) { a.Knee.Elasticity = 0 }},
		"elasticity -1": {rules: func(a *plan.Analysis) { a.Knee.Elasticity = -1 }},
		"elasticity ?":  {rules: func(a *plan.Analysis) { a.Knee.Elasticity = math.NaN() }},
		"tie 1e300":     {rules: func(a *plan.Analysis) { a.Knee.Tie = 1e300 }},
		"tie -1":        {rules: func(a *plan.Analysis) { a.Knee.Tie = -1 }},
		"rise":          {rules: func(a *plan.Analysis) { a.Knee.P95Rise = math.Inf(1) }},
		"half":          {rules: func(a *plan.Analysis) { a.Knee.Rule, a.Knee.Factor = "half_increment", 1e308 }},
		"ratio":         {rules: func(a *plan.Analysis) { a.Limit.P95Ratio = math.NaN() }},
		"safety":        {rules: func(a *plan.Analysis) { a.Headroom.Safety = 1e300 }},
		"reserve":       {rules: func(a *plan.Analysis) { a.Headroom.ReserveRungs = -3 }},
		"interference":  {rules: func(a *plan.Analysis) { a.BaselineCheck.Interference = math.NaN() }},
		"no rules":      {rules: func(a *plan.Analysis) { *a = plan.Analysis{} }},
	} {
		t.Run(name, func(t *testing.T) {
			r, a := chat(), rules("power")
			if c.change != nil {
				c.change(r)
			}
			if c.rules != nil {
				c.rules(&a)
			}
			if got := none.FindString(asJSON(t, results.Analyse(r.Sealed(), a))); got != "" {
				t.Errorf("the report holds %s", got)
			}
		})
	}
}

func TestSilentOutputsHaveNoThroughput(t *testing.T) {
	r := chat()
	measured(r, 0, func(q *record.Request) { q.OutputTokens = new(0) })
	rep := report(r)
	l := rep.Ladders[0]
	if l.Limit.Value != nil || l.Knee.Answer != results.NoAnswer || l.Rungs[0].Throughput != nil || l.Rungs[0].ThroughputByPass[0] != nil {
		t.Errorf("limit %+v, knee %+v", l.Limit, l.Knee)
	}
	has(t, "reason", l.Rungs[0].ThroughputReason, "0 output tokens")
	has(t, "verdict", rep.Verdict, "the answers at 1, 2, 4, 8 report 0 output tokens")
	has(t, "notices", notices(rep), "report 0 output tokens of 64 asked")
}

func TestOutputLengths(t *testing.T) {
	r := chat()
	measured(r, 4, func(q *record.Request) { q.OutputTokens = new(3 + q.Index%2) })
	rep := report(r)
	if o := rep.Ladders[0].Rungs[2].Output; o.Min != 3 || o.Max != 4 || o.Mean != 3.5 || o.Short != o.N || o.Planned != 64 {
		t.Errorf("output %+v", o)
	}
	has(t, "notices", notices(rep), "120 of 600 answers are shorter than asked, at 4 (3 to 4 of 64 tokens): throughput per received token",
		"outputs differ in length between rungs (3.5 tokens on average at 4, 64 at 1), so the gain is not of load alone")
	if rep = report(chat()); strings.Contains(notices(rep), "output") {
		t.Errorf("a notice on outputs as asked: %s", notices(rep))
	}
	// Short everywhere, and alike: the rungs are still the same work.
	r = chat()
	measured(r, 0, func(q *record.Request) { q.OutputTokens = new(8) })
	if n := notices(report(r)); strings.Contains(n, "differ") || !strings.Contains(n, "(8 of 64 tokens)") {
		t.Error(n)
	}
}

func TestCachedPrompts(t *testing.T) {
	r := chat()
	measured(r, 0, func(q *record.Request) { q.CachedTokens = new(16) })
	rep := report(r)
	has(t, "notices", notices(rep), "the server took 3 % of the prompt tokens from its cache")
	// What the chat template makes alike in all prompts is expected.
	r.Manifest.Server.TemplateExtra = 11
	rep = report(r)
	if c := rep.Ladders[0].Cache; c == nil || !c.Expected || strings.Contains(notices(rep), "cache") {
		t.Errorf("cache %+v, notices %s", c, notices(rep))
	}
	measured(r, 8, func(q *record.Request) { q.CachedTokens = q.InputTokens })
	rep = report(r)
	has(t, "notices", notices(rep), "from its cache (100 % at 8)")
}

// edit changes a recorded run's manifest.
func edit(t *testing.T, dir string, change func(map[string]any)) {
	t.Helper()
	file := filepath.Join(dir, "manifest.json")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	change(m)
	if b, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestEditedPlanIsNotTheOneThatWasRun(t *testing.T) {
	knee := func(name string, value any) func(map[string]any) {
		return func(m map[string]any) {
			m["plan"].(map[string]any)["analysis"].(map[string]any)["knee"].(map[string]any)[name] = value
		}
	}
	for name, c := range map[string]struct {
		change func(map[string]any)
		want   string
	}{
		"as it was":    {func(map[string]any) {}, ""},
		"elasticity":   {knee("elasticity", -1), "not the one that was run"},
		"tie":          {knee("tie", 1e300), "not the one that was run"},
		"digest":       {func(m map[string]any) { m["plan_digest"] = "" }, "not the one that was run"},
		"seed":         {func(m map[string]any) { m["seed"] = 1 }, "its seed is not that of the plan"},
		"spec hash":    {func(m map[string]any) { m["spec_hash"] = "00" }, "its spec_hash is not that of the plan"},
		"another cell": {func(m map[string]any) { m["cell"] = "b" }, `no cell "b"`},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := resultstest.Write(chat(), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			edit(t, dir, c.change)
			_, err = results.Open(dir)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "manifest.json") {
				t.Errorf("error %v, want %q of manifest.json", err, c.want)
			}
		})
	}
}

func TestRefusalsLead(t *testing.T) {
	r := resultstest.Small().Run()
	for i := range r.Requests {
		if q := &r.Requests[i]; q.Ladder == "batch" && q.Value > 2 && q.Phase == record.Measure && q.Value < 64 {
			q.Counted, q.Outcome, q.RejectReason = false, record.TokenMismatch, "token_mismatch: input tokens off the plan in 5 of 5 requests"
		}
	}
	rep := report(r)
	has(t, "first notice", rep.Notices[0], `Ladder "batch" at 4, 8, 16, 32: every round was refused (token_mismatch: input tokens off the plan`)
	has(t, "verdict", rep.Verdict, "every round", "4, 8, 16, 32", "token_mismatch")
	if l := rep.Ladders[0]; l.Boundary == nil || *l.Boundary != 2 {
		t.Errorf("boundary %v, want 2: nothing above it passed", l.Boundary)
	}
	// Where there is no edge, and nothing at all counts.
	r = chat()
	changeEach(r, record.Measure, func(q *record.Request) { q.Counted, q.RejectReason = false, "token_mismatch: x" })
	changeEach(r, record.Baseline, func(q *record.Request) { q.Counted, q.RejectReason = false, "token_mismatch: x" })
	rep = report(r)
	has(t, "verdict", rep.Verdict, "here are 0: every round at 1, 2, 4, 8 was refused (token_mismatch)")
	has(t, "baseline", rep.Baseline.Verdict, "no single request counts, token_mismatch")
	if strings.Contains(asJSON(t, rep), `"no rung failed"`) {
		t.Error("rungs of which nothing is known are said not to fail")
	}
}

func TestFailuresBelowTheStopRule(t *testing.T) {
	r := chat()
	r.Plan.Cells[0].Ladders[0].Stop.FailureRatio = 0.2
	n := 0
	measured(r, 4, func(q *record.Request) {
		if n++; n <= 3 {
			q.Outcome, q.OutputTokens, q.Status, q.Error = record.ServerError, nil, new(500), "boom\x00\nbang"
		}
	})
	rep := report(r)
	l := rep.Ladders[0]
	has(t, "boundary", l.BoundaryReason, "no rung met the stop rule; 3 requests failed (3 server_error)")
	has(t, "findings", strings.Join(l.Findings, " "), "No edge: no rung met the stop rule; 3 requests failed")
	has(t, "notices", notices(rep), "3 requests failed without meeting the stop rule (3 server_error), at 4")
	if len(l.Said) != 1 || l.Said[0].Text != "boom bang" || l.Said[0].N != 3 || l.Said[0].Value != 4 {
		t.Errorf("errors %+v", l.Said)
	}
}

// The stop rule looks at all measured requests, other figures at those that count.
func TestFailuresOfRefusedRounds(t *testing.T) {
	r := chat()
	measured(r, 4, func(q *record.Request) {
		if q.Pass == 1 {
			q.Counted, q.RejectReason = false, "token_mismatch: x"
			if q.Index == 0 {
				q.Outcome = record.ServerError
			}
		}
	})
	g := report(r).Ladders[0].Rungs[2]
	if g.FailedRefused != 1 || len(g.Failures) != 1 || g.Sent != 120 || g.Latency.N != 80 || g.Failed != "" {
		t.Errorf("rung %+v, n %d", g, g.Latency.N)
	}
}

func TestFailedWarmups(t *testing.T) {
	r := chat()
	changeEach(r, record.Warmup, func(q *record.Request) {
		if q.Value == 8 {
			q.Outcome, q.Error = record.OOM, "CUDA out of memory"
		}
		if q.Value == 2 {
			q.Outcome = record.ServerError
		}
		if q.Ladder == "" {
			q.Outcome = record.Timeout
		}
	})
	rep := report(r)
	w := rep.Ladders[0].Warmups
	if len(w) != 2 || w[0].Value != 2 || w[0].Stops || w[1].Value != 8 || !w[1].Stops || w[1].Failures[0].N != 9 {
		t.Errorf("warm-ups %+v", w)
	}
	has(t, "notices", notices(rep), `Ladder "concurrency" at 8: 9 warm-ups failed (9 oom)`, "Baseline: 5 warm-ups failed (5 timeout)")
	if strings.Contains(notices(rep), "server_error") {
		t.Error("a notice on what no stop rule names")
	}
}

// Only what a long input can bring about is a matter of its length.
func TestFirstRungFailsByAnythingElse(t *testing.T) {
	o := resultstest.Small()
	o.Fails = func(plan.Shape) (record.Outcome, int) { return record.Reset, 1 }
	r := o.Run()
	changeEach(r, record.Measure, func(q *record.Request) { q.Error = strings.Repeat("gone \x1b[2J", 100) })
	rep := report(r)
	l := rep.Ladders[0]
	has(t, "boundary", l.BoundaryReason, "the first rung fails", "reset, beginning gone [2Jgone")
	if strings.Contains(l.BoundaryReason, "single long input") || len(l.BoundaryReason) > 300 || strings.Contains(l.BoundaryReason, "\x1b") {
		t.Errorf("boundary: %s", l.BoundaryReason)
	}
}

func TestHeadroomOfALengthLadder(t *testing.T) {
	o := resultstest.Options{Ladders: []plan.Ladder{resultstest.Ladder("length", plan.AxisInputTokens, 1, 4, 5, 512, 2048, 4096)}}
	h := report(o.Run()).Memory.Headroom
	if h.AvailableBytes == nil || h.PeakAt != `input_tokens 4096 of ladder "length" (at batch 1, 1 in flight)` || len(h.NotMeasured) > 0 || h.NoLadder != "no batch or concurrency ladder" {
		t.Errorf("headroom %+v", h)
	}
}

func TestSimulatedByItsOwnWord(t *testing.T) {
	for name, change := range map[string]func(*resultstest.Recorded){
		"software": func(r *resultstest.Recorded) { r.Manifest.Server.Software = "rung simulated" },
		"card":     func(r *resultstest.Recorded) { r.Manifest.GPUs[0].Name = "simulated GPU" },
		"samples":  func(r *resultstest.Recorded) { r.Samples[3].MemCall = "simulated" },
	} {
		r := resultstest.Small().Run()
		if rep := report(r); rep.Simulated || rep.SimulatedBy != "" {
			t.Fatalf("simulated by %q", rep.SimulatedBy)
		}
		change(r)
		rep := report(r)
		if !rep.Simulated || !strings.HasPrefix(rep.Verdict, "Of a simulated server") || !strings.Contains(notices(rep), "Simulated: the ") {
			t.Errorf("%s: %t, %s, %s", name, rep.Simulated, rep.Verdict, notices(rep))
		}
	}
}

func TestRungsThatDoNotRise(t *testing.T) {
	for _, values := range [][]float64{{4, 4, 8, 16}, {16, 8, 4, 2}} {
		o := resultstest.Options{NoGPU: true, Ladders: []plan.Ladder{resultstest.Ladder("batch", plan.AxisBatch, 1, 4, 5, values...)}}
		rep := report(o.Run())
		l := rep.Ladders[0]
		if l.Limit.Value != nil || l.Knee.Answer != results.NoAnswer {
			t.Errorf("%v: limit %+v, knee %+v", values, l.Limit, l.Knee)
		}
		has(t, "notices", notices(rep), "its rungs do not rise", "a knee is not defined")
		has(t, "knee", l.Knee.Reason, "do not rise")
	}
}

func TestFewSingleRequestsAreNotQuiet(t *testing.T) {
	r := chat()
	changeEach(r, record.Baseline, func(q *record.Request) {
		if q.Index >= 3 {
			q.Phase = record.Probe
		}
	})
	has(t, "baseline", report(r).Baseline.Verdict, "n = 3 is too few to tell")
}
