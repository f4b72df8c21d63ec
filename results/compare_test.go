package results_test

import (
	"errors"
	"strings"
	"testing"

	"rung/results"
	"rung/results/resultstest"
	"rung/sinks/record"
	"rung/spec/plan"
)

// ofPasses is a server of embeddings, so many times as slow, over five passes.
func ofPasses(slower float64, passes int, edge int) *resultstest.Recorded {
	o := resultstest.Options{
		Ladders: []plan.Ladder{resultstest.Ladder("batch", plan.AxisBatch, passes, 4, 15, 1, 2, 4, 8, 16, 32)},
		Service: func(s plan.Shape) float64 { return slower * (0.002 + max(0.010, 4e-6*float64(s.Batch*s.InputTokens))) },
		Fails: func(s plan.Shape) (record.Outcome, int) {
			if s.Batch >= edge {
				return record.OOM, 2
			}
			return record.OK, 0
		},
	}
	return o.Run()
}

func compare(t *testing.T, a, b *resultstest.Recorded) results.Comparison {
	t.Helper()
	c, err := results.Compare(a.Sealed(), b.Sealed(), false)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Two runs of one server differ in nothing.
func TestCompareTheSame(t *testing.T) {
	a := ofPasses(1, 5, 32)
	b := ofPasses(1, 5, 32)
	for i := range b.Requests { // the same server on another day
		b.Requests[i].DoneTS += 1e-5 * float64(i%7)
	}
	c := compare(t, a, b)
	l := c.Ladders[0]
	if len(c.Ladders) != 1 || len(l.Rungs) != 6 || len(l.Unpaired) > 0 || l.EdgeMoved != "same" || *l.Edge.A != 32 {
		t.Fatalf("%+v", l)
	}
	for _, r := range l.Rungs[:5] {
		if r.Throughput.Differs || r.Latency.Differs || r.LatencyOf != "median" || r.Throughput.Over != "rounds" || r.Throughput.NA != 20 {
			t.Errorf("at %g: %+v, %+v", r.Value, r.Throughput, r.Latency)
		}
	}
	if c.Verdict != "Nothing moved. If a setting of the server was changed between the runs, it probably did not take effect." {
		t.Error(c.Verdict)
	}
	b.Plan.Cells[0].Server = &plan.Server{Command: []string{"serve", "--max-num-seqs=8"}}
	has(t, "verdict", compare(t, a, b).Verdict, "settings of the server were changed (command: \"serve --max-num-seqs=8\", before \"\"): they probably did not take effect")
}

// What the servers say is in force is held against each other.
func TestCompareSettings(t *testing.T) {
	a, b := ofPasses(1, 2, 64), ofPasses(1, 2, 64)
	a.Manifest.Server.Settings = []record.Setting{{Name: "max_num_seqs", Asked: "8", InForce: "8"}, {Name: "dtype", InForce: "half"}}
	b.Manifest.Server.Settings = []record.Setting{{Name: "max_num_seqs", Asked: "16", InForce: "8"}, {Name: "block_size", InForce: "16"}}
	if got := strings.Join(compare(t, a, b).Settings, "; "); got != "block_size: 16, before not known; dtype: not known, before half" {
		t.Error(got)
	}
}

// A server a fifth slower is found slower at every rung, and its edge where it went.
func TestCompareASlowerOne(t *testing.T) {
	c := compare(t, ofPasses(1, 5, 32), ofPasses(1.2, 5, 16))
	l := c.Ladders[0]
	if l.EdgeMoved != "down" || *l.Edge.B != 16 || len(l.Unpaired) != 1 || l.Unpaired[0] != 32 {
		t.Errorf("%+v", l)
	}
	for _, r := range l.Rungs[:4] {
		if !r.Throughput.Differs || *r.Throughput.Delta > -0.9 || *r.Throughput.Change > -0.14 || *r.Latency.Delta < 0.9 || *r.Throughput.PHolm < *r.Throughput.P {
			t.Errorf("at %g: %+v", r.Value, r.Throughput)
		}
	}
	has(t, "verdict", c.Verdict, `The edge of ladder "batch" moved down, from 32 to 16`, `the throughput of ladder "batch" differs by -`, `the latency of ladder "batch" differs by`)
}

// Where passes are enough to tell a difference among all tests, they are compared: what
// is of one pass hangs together.
func TestComparePasses(t *testing.T) {
	r := compare(t, ofPasses(1, 7, 64), ofPasses(1.2, 7, 64)).Ladders[0].Rungs[0]
	if r.Throughput.Over != "passes" || r.Throughput.NA != 7 || r.LatencyOf != "p95" || !r.Throughput.Differs || !r.Latency.Differs {
		t.Errorf("%+v, %+v", r.Throughput, r.Latency)
	}
}

// With few passes rounds are compared, and with few of those nothing is claimed.
func TestCompareOnFew(t *testing.T) {
	c := compare(t, ofPasses(1, 2, 64), ofPasses(1.2, 2, 64))
	if r := c.Ladders[0].Rungs[0]; r.Throughput.Over != "rounds" || r.Throughput.NA != 8 || r.LatencyOf != "median" || !r.Throughput.Differs {
		t.Errorf("%+v", r.Throughput)
	}
	few := func(slower float64) *resultstest.Recorded {
		r := ofPasses(slower, 1, 64)
		for i := range r.Requests {
			if q := &r.Requests[i]; q.Phase == record.Measure && q.Round > 1 {
				q.Counted, q.RejectReason = false, "throttled: for the test"
			}
		}
		return r
	}
	c = compare(t, few(1), few(1.5))
	if r := c.Ladders[0].Rungs[0]; r.Throughput.P != nil || r.Throughput.Reason != "2 and 2 rounds are too few to tell, each run needs 4" || c.Tests != 0 {
		t.Errorf("%+v", r.Throughput)
	}
	has(t, "verdict", c.Verdict, "No difference is settled, but the latency of ladder", "more passes would tell")
}

// Other work is another measurement.
func TestCompareOtherWork(t *testing.T) {
	a, b := ofPasses(1, 2, 64), ofPasses(1, 2, 64)
	b.Manifest.WorkloadHash, b.Plan.Cells[0].WorkloadHash = "other", "other"
	if _, err := results.Compare(a.Sealed(), b.Sealed(), false); !errors.Is(err, results.ErrOtherWork) {
		t.Errorf("%v", err)
	}
	b.Plan.Cells[0].Ladders[0].Rungs[2].Shape.InputTokens = 1024
	c, err := results.Compare(a.Sealed(), b.Sealed(), true)
	if err != nil || !strings.Contains(strings.Join(c.Warnings, " "), "did other work") || len(c.Ladders[0].Rungs) != 5 || c.Ladders[0].Unpaired[0] != 4 {
		t.Errorf("%+v, %v", c, err)
	}
}

// Peaks that fell are told from those that stayed.
func TestComparePeaks(t *testing.T) {
	lean := resultstest.Options{Ladders: []plan.Ladder{resultstest.Ladder("batch", plan.AxisBatch, 5, 4, 15, 1, 2, 4, 8, 16, 32)},
		Used: func(s plan.Shape) int64 { return 4*resultstest.GiB + int64(s.Batch*s.InputTokens)*320<<10 }}
	has(t, "verdict", compare(t, ofPasses(1, 5, 64), lean.Run()).Verdict, `peaks of ladder "batch" fell at 6 rungs`)
}
