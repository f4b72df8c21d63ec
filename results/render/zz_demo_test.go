package render_test

import (
	"os"
	"testing"
	"time"

	"rung/results"
	"rung/results/render"
	"rung/results/resultstest"
	"rung/sinks/record"
	"rung/spec/plan"
)

func TestZZDemo(t *testing.T) {
	length := resultstest.Ladder("length", plan.AxisInputTokens, 1, 4, 15, 512, 1024, 2048, 4096)
	batch := resultstest.Ladder("batch", plan.AxisBatch, 3, 4, 20, 1, 2, 4, 8, 16)
	batch.Prompt.Kind, length.Prompt.Kind = "chinese prose", "chinese prose"
	batch.Stop.P95OverBaseline = new(4.0)
	emb := resultstest.Options{
		Ladders: []plan.Ladder{batch, length}, Server: &plan.Server{Command: []string{"vllm"}},
		Retests: []plan.Retest{{Ladder: "batch", Prompt: plan.Prompt{Name: "long"}, Tokens: 2048, Warmup: 2, Requests: 40}},
		Confirm: &plan.Check{Prompt: plan.Prompt{Name: "p"}, Tokens: 512, Warmup: 2, Requests: 60},
		Limits: map[string]float64{"batch": 4, "length": 4096}, Floor: &record.Floor{InFlight: 1, Requests: 1000, RatePerS: 150, P50S: 0.001, P95S: 0.008},
	}
	chat := resultstest.Options{
		API: plan.OpenAIChat, Chat: true, Stream: true, NoGPU: true, Slots: 8,
		SLO: &plan.SLO{Latency: plan.Duration(500 * time.Millisecond), TTFT: plan.Duration(100 * time.Millisecond)},
		Service: func(s plan.Shape) float64 { return 0.05 + 0.002*float64(max(64, s.OutputTokens)) },
		Ladders: []plan.Ladder{
			resultstest.Ladder("rate", plan.AxisRate, 2, 1, 20, 1, 10, 20, 30, 40, 60, 80, 100),
			resultstest.Ladder("output", plan.AxisOutputTokens, 1, 4, 10, 64, 128, 256, 512),
			resultstest.Ladder("concurrency", plan.AxisConcurrency, 3, 1, 40, 1, 2, 4, 8, 16),
		},
	}
	for name, o := range map[string]resultstest.Options{"emb": emb, "chat": chat} {
		rep := results.Analyse(o.Run(), resultstest.Rules("power"))
		for ext, f := range map[string]form{"txt": render.Text, "html": render.HTML, "json": render.JSON, "md": render.Markdown} {
			os.WriteFile("/tmp/demo/"+name+"."+ext, []byte(render1(t, f, rep, render.Options{UTF8: true})), 0o644)
		}
	}
}
