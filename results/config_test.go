package results_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"rung/results"
	"rung/results/resultstest"
	"rung/sinks/record"
	"rung/spec/plan"
)

// settled is an embedding server with ladders of batch, concurrency and length.
func settled() resultstest.Options {
	o := resultstest.Small()
	o.Ladders = append(o.Ladders, resultstest.Ladder("length", plan.AxisInputTokens, 1, 4, 15, 512, 1024, 2048))
	o.Server = &plan.Server{Command: []string{"vllm", "serve", "m", "--gpu-memory-utilization=0.85"}}
	return o
}

func configured(t *testing.T, rep *results.Report, form string) map[string]string {
	t.Helper()
	c, err := results.Configure(rep, form)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range c.Entries {
		out[strings.TrimPrefix(e.Section+"."+e.Key, ".")] = e.Value
	}
	for _, l := range c.LeftOut {
		out[strings.TrimPrefix(l.Section+"."+l.Key, ".")] = "left out: " + l.Reason
	}
	return out
}

// Each value is the limit that the report names, and says where it is from.
func TestConfigure(t *testing.T) {
	rep := report(settled().Run())
	slowest := 0.0
	for _, l := range rep.Ladders {
		for _, g := range l.Rungs {
			if g.Value <= *l.Limit.Value {
				slowest = max(slowest, g.Latency.MaxS)
			}
		}
	}
	for form, want := range map[string]map[string]string{
		"vllm":   {"--max-num-seqs": "4", "--max-model-len": "2048", "--max-num-batched-tokens": "2048", "--gpu-memory-utilization": "0.85"},
		"tei":    {"--max-client-batch-size": "4", "--max-concurrent-requests": "4", "--max-batch-tokens": "2048"},
		"sglang": {"--max-running-requests": "4", "--mem-fraction-static": "0.85"},
		"yaml": {"embedding.max_batch_size": "4", "embedding.max_concurrency": "4", "embedding.max_input_tokens": "2048",
			"embedding.queue_timeout_ms": fmt.Sprintf("%.0f", math.Ceil(3000*rep.Baseline.Latency.P95S)), "embedding.gpu_memory_reserve": "1280MiB",
			"server.max_concurrency": "4", "server.queue_timeout_ms": fmt.Sprintf("%.0f", math.Ceil(3000*rep.Baseline.Latency.P95S)),
			"server.request_timeout_ms": fmt.Sprintf("%.0f", math.Ceil(1500*slowest))},
	} {
		got := configured(t, rep, form)
		for key, value := range want {
			if got[key] != value {
				t.Errorf("%s: %s is %q, want %q", form, key, got[key], value)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %v", form, got)
		}
	}
	if _, err := results.Configure(rep, "triton"); err == nil {
		t.Error("a form that is none")
	}
}

// The ladder and the rung that a value names exist.
func TestValuesNameTheirRung(t *testing.T) {
	rep := report(settled().Run())
	named := 0
	for _, s := range rep.Settings {
		var ladder string
		var rung float64
		if n, _ := fmt.Sscanf(s.From, "ladder %q, rung %g", &ladder, &rung); n != 2 {
			continue
		}
		named++
		i := slices.IndexFunc(rep.Ladders, func(l results.Ladder) bool { return l.Name == ladder })
		if i < 0 || !slices.ContainsFunc(rep.Ladders[i].Rungs, func(r results.Rung) bool { return r.Value == rung }) || !strings.Contains(s.Holds, "whose kind of text is not declared") {
			t.Errorf("%+v", s)
		}
	}
	if named != 7 {
		t.Errorf("%d of the settings name a rung: %+v", named, rep.Settings)
	}
}

// A run that cannot carry a value emits none, and says why.
func TestNoValueWithoutData(t *testing.T) {
	r := chat()
	r.Plan.Cells[0].Baseline = nil
	got := configured(t, report(r), "vllm")
	for key, why := range map[string]string{
		"--max-model-len": "there is no ladder of input_tokens", "--max-num-batched-tokens": "there is no ladder of batch",
		"--gpu-memory-utilization": "with which share of the card's memory the server runs is not known",
	} {
		if !strings.HasPrefix(got[key], "left out: "+why) {
			t.Errorf("%s: %s", key, got[key])
		}
	}
	has(t, "queue timeout", configured(t, report(r), "yaml")["server.queue_timeout_ms"], "left out: there is no baseline")
	r = chat()
	measured(r, 2, func(q *record.Request) {
		if q.Index == 1 && q.Pass == 0 {
			q.Outcome, q.OutputTokens = record.Timeout, nil
		}
	})
	has(t, "request timeout", configured(t, report(r), "yaml")["server.request_timeout_ms"], "left out: 1 request timed out at the longest output")
}

// The share of the card's memory is lowered where what was taken up front leaves less
// than the declared safety, and never raised.
func TestMemoryShareIsLowered(t *testing.T) {
	for _, tt := range []struct {
		taken int64 // GiB of 24, of which 0.5 are the driver's and 1.92 the safety
		given string
		want  string
	}{{22, "0.92", "0.9"}, {20, "0.83", "0.83"}, {20, "0.5", "0.5"}, {22, "yes", "left out: the server runs with --gpu-memory-utilization \"yes\", which is no share"}} {
		o := paged()
		o.Idle, o.Used = tt.taken*resultstest.GiB, func(plan.Shape) int64 { return tt.taken * resultstest.GiB }
		o.Server = &plan.Server{Command: []string{"vllm", "serve", "m", "--gpu-memory-utilization", tt.given}}
		r := o.Run()
		if got := configured(t, report(r), "vllm")["--gpu-memory-utilization"]; got != tt.want {
			t.Errorf("%d GiB at %s: %s, want %s", tt.taken, tt.given, got, tt.want)
		}
		r.Manifest.Server.Settings = []record.Setting{{Name: "gpu_memory_utilization", Asked: tt.given, InForce: "0.4"}}
		if got := configured(t, report(r), "vllm")["--gpu-memory-utilization"]; got != "0.4" && got != "0.38" {
			t.Errorf("in force is 0.4, and emitted %s", got)
		}
	}
}

// Fewer batched tokens than the model's length are no flag that vLLM starts with.
func TestBatchedTokensBelowTheLength(t *testing.T) {
	o := settled()
	o.Ladders = o.Ladders[:2]
	r := o.Run()
	r.Manifest.Server.MaxModelLen = new(8192)
	if got := configured(t, report(r), "vllm")["--max-num-batched-tokens"]; got != "left out: 2048 is below the model's length of 8192, and vLLM would not start" {
		t.Error(got)
	}
}

// A value that a check did not confirm says so.
func TestUnconfirmedValueSaysSo(t *testing.T) {
	o := settled()
	o.Ladders = o.Ladders[:1]
	o.Retests = []plan.Retest{{Ladder: "batch", Prompt: plan.Prompt{Name: "long"}, Tokens: 2048, Warmup: 2, Requests: 40}}
	o.Limits = map[string]float64{"batch": 4}
	r := o.Run()
	n := 0
	for i := range r.Requests {
		if q := &r.Requests[i]; q.Phase == record.Retest && n < 5 {
			q.Outcome, n = record.OOM, n+1
		}
	}
	for _, s := range report(r).Settings {
		if s.Name == results.SetBatch && (s.Value == nil || s.Doubt != "NOT CONFIRMED" || !strings.Contains(s.From, "not confirmed by the retest")) {
			t.Errorf("%+v", s)
		}
	}
}
