package results_test

import (
	"math"
	"strings"
	"testing"

	"rung/results/resultstest"
	"rung/spec/plan"
)

// product is a ladder of batch and one of length on a server that is started again
// between them.
func product() resultstest.Options {
	o := resultstest.Options{
		Ladders: []plan.Ladder{
			resultstest.Ladder("batch", plan.AxisBatch, 3, 4, 20, 1, 2, 4, 8, 16),
			resultstest.Ladder("length", plan.AxisInputTokens, 1, 4, 15, 512, 1024, 2048, 4096),
		},
		Server: &plan.Server{Command: []string{"serve"}},
	}
	for i := range o.Ladders {
		o.Ladders[i].Prompt.Kind = "Chinese news"
	}
	return o
}

func TestMemorySlopes(t *testing.T) {
	m := report(product().Run()).Memory
	if len(m.Slopes) != 2 {
		t.Fatalf("slopes %+v", m.Slopes)
	}
	for _, s := range m.Slopes {
		if s.BytesPerToken == nil || math.Abs(*s.BytesPerToken-640<<10) > 1 || s.From != 512 || s.Card != "L4" || s.Text != "Chinese news" || s.Note != "" {
			t.Errorf("%+v, want 640 KiB a token", s)
		}
	}
	has(t, "slopes", m.Says, "as observed on L4 with Chinese news", "it is the product, the tokens in the batch, that binds")
}

// Attention takes memory with the square of the length.
func TestLengthIsSteeper(t *testing.T) {
	o := product()
	o.Used = func(s plan.Shape) int64 { return 4*resultstest.GiB + int64(s.Batch*s.InputTokens*s.InputTokens)*1024 }
	m := report(o.Run()).Memory
	has(t, "slopes", m.Says, "the length is steeper than the batch")
	if b, l := m.Slopes[0], m.Slopes[1]; *l.BytesPerToken <= *b.BytesPerToken || l.Least >= l.Most {
		t.Errorf("%+v, %+v", b, l)
	}
	o.Used = func(s plan.Shape) int64 {
		return 4*resultstest.GiB + int64(s.Batch)*resultstest.GiB/2 + int64(s.InputTokens)*64<<10
	}
	has(t, "slopes", report(o.Run()).Memory.Says, "the batch is steeper than the length")
}

// A later ladder begins where the earlier load left the memory, unless the server was
// started again.
func TestHighWaterAndRestart(t *testing.T) {
	o := product()
	o.Server = nil
	rep := report(o.Run())
	if s := rep.Memory.Slopes[1]; s.BytesPerToken != nil || !strings.Contains(s.Reason, "after high water") || !rep.Ladders[1].HighWater {
		t.Errorf("%+v", s)
	}
	if s := rep.Memory.Slopes[0]; s.BytesPerToken == nil || !strings.Contains(s.Note, "earlier load unknown") {
		t.Errorf("%+v", s)
	}
	if !rep.Ladders[1].Rungs[0].Memory.AfterHighWater {
		t.Error("a peak below the high water is taken for its own")
	}
	has(t, "slopes", rep.Memory.Says, "there is no slope along input_tokens")
	r := product().Run()
	rep = report(r)
	if rep.Ladders[1].HighWater || rep.Ladders[1].Rungs[0].Memory.AfterHighWater {
		t.Error("after a restart a ladder is a first walk again")
	}
	if len(rep.Client.Restarts) != 1 || rep.Client.Restarts[0].Before != "length" || rep.Client.Restarts[0].Failed != "" {
		t.Errorf("restarts %+v", rep.Client.Restarts)
	}
	for i := range r.Events { // one that was not ready gives nothing back
		if r.Events[i].Kind == "restart_end" {
			r.Events[i].Reason = "no answer"
		}
	}
	for i := range r.Samples {
		if r.Samples[i].Ladder != "batch" && r.Samples[i].TS > 20 {
			r.Samples[i].MemUsedBytes = new(9 * resultstest.GiB)
		}
	}
	if rep = report(r); !rep.Ladders[1].HighWater || rep.Client.Restarts[0].Failed != "no answer" {
		t.Errorf("%+v", rep.Client.Restarts)
	}
}

// Memory that follows no load has no slope.
func TestStillMemoryHasNoSlope(t *testing.T) {
	o := product()
	o.Used = func(plan.Shape) int64 { return 4 * resultstest.GiB }
	m := report(o.Run()).Memory
	if m.Slopes[0].BytesPerToken != nil || m.Says != "" {
		t.Errorf("%+v, %s", m.Slopes, m.Says)
	}
}

// Two limits of which each was found alone are not a pair that was tried.
func TestLimitsSayWhatStoodStill(t *testing.T) {
	rep := report(product().Run())
	has(t, "verdict", rep.Verdict, "max_batch_size 4 (at 512 tokens an input, 1 in flight; ", "max_input_tokens 4096 (at batch 1, 1 in flight; ", "each was measured alone, not together")
	h := rep.Memory.Headroom
	if h.NoLadder != "no concurrency ladder" || len(h.NotMeasured) > 0 || h.PeakAt != "batch 4 (at 512 tokens an input, 1 in flight)" {
		t.Errorf("headroom %+v", h)
	}
	alone := report(resultstest.Options{Ladders: product().Ladders[:1]}.Run())
	if strings.Contains(alone.Verdict, "measured alone") || strings.Contains(alone.Verdict, "(at ") {
		t.Error("one limit, and it is told apart from others: ", alone.Verdict)
	}
	both := report(resultstest.Small().Run()).Memory.Headroom
	if both.NoLadder != "" {
		t.Errorf("headroom %+v", both)
	}
}
