package results_test

import (
	"math"
	"strings"
	"testing"

	"rung/results/resultstest"
	"rung/sinks/record"
)

// The verdict is the declared rule's; the others stand beside it.
func TestOtherRulesStandBeside(t *testing.T) {
	rep := report(resultstest.Small().Run())
	batch, conc := rep.Ladders[0].Knee.Beside, rep.Ladders[1].Knee.Beside
	if batch == nil || len(batch.Rules) != 2 || batch.Rules[0].Rule != "half_increment" || batch.Rules[1].Rule != "gain_and_p95" || batch.NStar != nil || batch.USL == nil {
		t.Errorf("%+v", batch)
	}
	// Four slots: at most four times the throughput of one.
	if conc == nil || conc.NStar == nil || math.Abs(*conc.NStar-4) > 0.1 {
		t.Errorf("%+v", conc)
	}
	if s := strings.Join(rep.Ladders[0].Findings, " ") + rep.Verdict; strings.Contains(s, "half_increment") || strings.Contains(s, "USL") {
		t.Error(s)
	}
}

// Batch and concurrency are held against each other where both had the throughput, and
// nowhere else.
func TestEqualThroughput(t *testing.T) {
	rep := report(resultstest.Small().Run())
	if len(rep.Equal) != 1 || len(rep.Equal[0].Rows) != 6 {
		t.Fatalf("%+v", rep.Equal)
	}
	conc := rep.Ladders[1].Rungs
	most := 0.0
	for _, g := range conc {
		most = max(most, *g.Throughput)
	}
	for _, r := range rep.Equal[0].Rows {
		inside := r.Throughput >= *conc[0].Throughput && r.Throughput <= most
		if inside != (r.Concurrency != nil) || inside && (*r.Concurrency < 1 || *r.Concurrency > 16) {
			t.Errorf("%+v", r)
		}
		if r.Batch == 2 && (math.Abs(*r.Concurrency-2) > 0.1 || math.Abs(*r.Median-0.012) > 0.001) { // twice a server's work by either
			t.Errorf("%+v: %g at once, %g s", r, *r.Concurrency, *r.Median)
		}
	}
	o := resultstest.Small()
	o.Ladders[1].Prompt.Name = "other"
	if got := report(o.Run()).Equal; len(got) > 0 {
		t.Errorf("other inputs: %+v", got)
	}
}

// The energy of single requests, and what else used the cards meanwhile.
func TestBaselineEnergyAndOthers(t *testing.T) {
	r := resultstest.Small().Run()
	for i := range r.Samples {
		s := &r.Samples[i]
		s.EnergyJ, s.Processes = new(100*s.TS), []int64{7}
	}
	b := report(r).Baseline
	// 60 requests of 512 tokens, 12 ms each, at 100 W: but for the ends 1.2 J in 512 tokens.
	if b.JPer1000Tokens == nil || math.Abs(*b.JPer1000Tokens/(1000*1.2/512)-1) > 0.1 || b.Others != "" {
		t.Errorf("%v J, %q", b.JPer1000Tokens, b.Others)
	}
	n := 0
	for i := range r.Samples {
		if s := &r.Samples[i]; s.Phase == record.Baseline && s.TS > 2.1 {
			if n++; n == 2 {
				s.Processes = []int64{7, 8}
			}
		}
	}
	rep := report(r)
	has(t, "others", rep.Baseline.Others, "something else uses this machine", "(pid 8)")
	has(t, "notices", strings.Join(rep.Notices, " "), "Something else uses this machine")
	for i := range r.Requests {
		if r.Requests[i].Phase == record.Baseline {
			r.Requests[i].InputTokens = nil
		}
	}
	if j := report(r).Baseline.JPer1000Tokens; j != nil {
		t.Errorf("%g J a token that nobody counted", *j)
	}
}
