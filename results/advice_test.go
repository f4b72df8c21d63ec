package results_test

import (
	"strings"
	"testing"

	"rung/results/resultstest"
	"rung/sinks/record"
	"rung/spec/plan"
)

func findings(r *resultstest.Options, ladder int) string {
	return strings.Join(report(r.Run()).Ladders[ladder].Findings, " ")
}

// The first sign in time is named, and what comes after it is in order.
func TestFirstSign(t *testing.T) {
	l := report(paged().Run()).Ladders[0]
	if len(l.Onsets) < 3 {
		t.Fatalf("%+v", l.Onsets)
	}
	for i := 1; i < len(l.Onsets); i++ {
		if l.Onsets[i].TS < l.Onsets[i-1].TS {
			t.Errorf("%+v", l.Onsets)
		}
	}
	has(t, "findings", strings.Join(l.Findings, " "), "First sign: ", ", at 8.")
	o := resultstest.Small()
	o.Fails = func(s plan.Shape) (record.Outcome, int) {
		if s.InFlight >= 2 {
			return record.Overloaded, 4
		}
		return record.OK, 0
	}
	has(t, "findings", findings(&o, 1), "First sign: 429 or 503, at 2.")
}

// A P95 that leaves the baseline before the mean does points at reclaim or paging.
func TestTailLeavesFirst(t *testing.T) {
	o := resultstest.Options{NoGPU: true, Slots: 64, Noise: 0.001, Service: func(plan.Shape) float64 { return 0.1 },
		Ladders: []plan.Ladder{resultstest.Ladder("concurrency", plan.AxisConcurrency, 1, 1, 100, 1, 2, 4, 8)}}
	r := o.Run()
	measured(r, 4, func(q *record.Request) {
		if q.Index%10 == 0 {
			q.DoneTS += 0.2
		}
	})
	l := report(r).Ladders[0]
	has(t, "findings", strings.Join(l.Findings, " "), "First sign: P95 off the baseline, at 4.", "P95 leaves the baseline at 4, and the mean does not: that points at reclaim or paging.")
}

// Memory that stands still while everybody waits longer is a matter of the concurrency.
func TestAdviceToLowerTheConcurrency(t *testing.T) {
	o := resultstest.Options{Slots: 1, Service: func(plan.Shape) float64 { return 0.1 }, Used: func(plan.Shape) int64 { return 5 * resultstest.GiB },
		Ladders: []plan.Ladder{resultstest.Ladder("concurrency", plan.AxisConcurrency, 3, 1, 40, 1, 2, 4, 8)}}
	has(t, "findings", findings(&o, 0), "lower the concurrency and the timeouts, not the batch")
	o.Used = func(s plan.Shape) int64 { return 5*resultstest.GiB + int64(s.InFlight)*resultstest.GiB }
	if s := findings(&o, 0); strings.Contains(s, "lower the concurrency") {
		t.Error(s)
	}
}

// Memory that is full from the first rungs of a concurrency ladder is one of how many
// sequences run: the batch ladder says how many fit.
func TestAdviceToLowerTheSequences(t *testing.T) {
	o := resultstest.Small()
	o.Ladders[1] = resultstest.Ladder("concurrency", plan.AxisConcurrency, 3, 1, 40, 4, 8, 16)
	o.Server = &plan.Server{Command: []string{"serve"}}
	o.Used = func(s plan.Shape) int64 {
		if s.InFlight > 1 {
			return 23*resultstest.GiB + resultstest.GiB*3/4
		}
		return 4*resultstest.GiB + int64(s.Batch)*resultstest.GiB/4
	}
	o.Fails = func(s plan.Shape) (record.Outcome, int) {
		if s.InFlight >= 8 {
			return record.OOM, 2
		}
		return record.OK, 0
	}
	// Of 24 GiB are 0.5 the driver's, 1.9 the safety's; 32 takes 12 and 64 would take 20.
	has(t, "findings", findings(&o, 1), "lower the number of sequences to 32, the largest batch that leaves the declared reserve")
}

// Batches at their cap while the latency jitters ask for a lower cap.
func TestAdviceToLowerTheCap(t *testing.T) {
	o := resultstest.Options{NoGPU: true, Slots: 4, Service: func(plan.Shape) float64 { return 0.5 },
		Ladders: []plan.Ladder{resultstest.Ladder("concurrency", plan.AxisConcurrency, 3, 1, 40, 1, 2, 4, 8)},
		Page:    func(plan.Shape) map[string]float64 { return map[string]float64{"batch_size_top_share": 0.8} }}
	r := o.Run()
	measured(r, 8, func(q *record.Request) {
		if q.Index%5 == 0 {
			q.DoneTS += 3
		}
	})
	has(t, "findings", strings.Join(report(r).Ladders[0].Findings, " "), "At 8 the server's batches are at their cap (80 % of them) while the latency jitters (P95 is ")
}

// Timeouts are listed with the length that each was planned to have.
func TestTimeoutsByLength(t *testing.T) {
	r := chat()
	measured(r, 8, func(q *record.Request) {
		if q.Index < 3 && q.Pass == 0 {
			q.Outcome, q.OutputTokens = record.Timeout, nil
			if q.Index == 2 {
				q.InputTokensPlanned = 2048
			}
		}
	})
	has(t, "findings", strings.Join(report(r).Ladders[0].Findings, " "), "Timed out: 2 of 512 tokens at 8, 1 of 2048 tokens at 8.")
}
