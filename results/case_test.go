package results_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"rung/results"
	"rung/sinks/record"
)

// Requests that fail at once are in the failure ratio, and in no latency and no
// throughput: they made a rate look high and a percentile low.
func TestCase45(t *testing.T) {
	r := chat()
	r.Plan.Cells[0].Ladders[0].Stop.FailureRatio = 0.5
	before := report(r).Ladders[0].Rungs[2]
	var latencies []float64
	measured(r, 4, func(q *record.Request) {
		if q.Index%5 == 0 {
			q.Outcome, q.InputTokens, q.OutputTokens, q.InputsDone = record.ServerError, nil, nil, 0
			q.DoneTS = q.SentTS + 0.0001
			return
		}
		latencies = append(latencies, q.LatencyS())
	})
	slices.Sort(latencies)
	rung := report(r).Ladders[0].Rungs[2]
	if rung.Latency.N != len(latencies) || rung.Latency.MinS != latencies[0] || rung.Latency.P95S != record.Quantile(latencies, 0.95) || rung.Latency.MinS < 0.001 {
		t.Errorf("%+v of %d successes", rung.Latency, len(latencies))
	}
	if rung.Sent != 120 || len(rung.Failures) != 1 || rung.Failures[0] != (results.Failures{Name: "server_error", N: 24}) || rung.Failed != "" {
		t.Errorf("%d sent, %v failed, %q", rung.Sent, rung.Failures, rung.Failed)
	}
	if share := *rung.Throughput / *before.Throughput; math.Abs(share-0.8) > 0.03 {
		t.Errorf("the throughput is %.2f of that without failures, and 0.8 of its requests were answered", share)
	}
	r.Plan.Cells[0].Ladders[0].Stop.FailureRatio = 0.1
	if e := report(r).Ladders[0].Edge; e == nil || e.Value != 4 || e.Reason != "24 of 120 requests failed, more than the declared ratio of 0.1" {
		t.Errorf("edge %+v", e)
	}
}

// A request that met a connection which had been closed while it lay idle was sent
// again: it is in no ratio, no stop rule and no count of failures.
func TestIdleResetsAreInNoRatio(t *testing.T) {
	r := chat()
	want := report(r)
	var again []record.Request
	measured(r, 4, func(q *record.Request) {
		if q.Index == 7 {
			idle := *q
			idle.Outcome, idle.ResetIdle, idle.InputTokens, idle.OutputTokens, idle.InputsDone, idle.DoneTS = record.Reset, true, nil, nil, 0, q.SentTS
			again = append(again, idle)
		}
	})
	r.Requests = append(r.Requests, again...)
	got := report(r)
	a, b := got.Ladders[0].Rungs[2], want.Ladders[0].Rungs[2]
	if len(again) != 3 || a.Sent != b.Sent || len(a.Failures) > 0 || a.Latency.N != b.Latency.N || *a.Throughput != *b.Throughput || got.Ladders[0].Edge != nil || len(got.Ladders[0].Said) > 0 {
		t.Errorf("%d sent, %v failed; without them %d", a.Sent, a.Failures, b.Sent)
	}
	if got.Run.Counts.Failed != 0 {
		t.Errorf("%d failed", got.Run.Counts.Failed)
	}
}

// A limit of the server's own is named by what sets it, and one cause is one incident,
// however many fell to it.
func TestLimitsAreNamed(t *testing.T) {
	r := chat()
	n := 0
	measured(r, 4, func(q *record.Request) {
		if n++; n <= 4 {
			q.Outcome, q.Limit, q.OutputTokens, q.Incident = record.TooLong, record.LimitSlots, nil, new(int64(1))
		}
	})
	measured(r, 8, func(q *record.Request) {
		if q.Index == 0 && q.Pass == 0 {
			q.Outcome, q.Limit, q.OutputTokens, q.Incident = record.TooLong, record.LimitTokens, nil, new(int64(2))
		}
	})
	rep := report(r)
	has(t, "notices", notices(rep),
		`Ladder "concurrency" at 4: 4 requests met a limit of the server in 1 incident: the context is shared by the slots: llama.cpp -c over -np.`,
		`Ladder "concurrency" at 8: 1 request met a limit of the server: the model's context: vLLM --max-model-len`)
	if m := rep.Ladders[0].Met; len(m) != 2 || m[0].N != 4 || m[0].Incidents != 1 {
		t.Errorf("%+v", m)
	}
	if strings.Contains(notices(report(chat())), "met a limit") {
		t.Error("a limit where none was met")
	}
}

// Slots of an open loop that were missed were never sent, so that they have no times:
// they are rows like others.
func TestDroppedRowsAreSound(t *testing.T) {
	r := chat()
	measured(r, 8, func(q *record.Request) {
		if q.Index%4 == 0 {
			q.Outcome, q.SentTS, q.DoneTS, q.OutputTokens, q.InputTokens = record.Dropped, 0, 0, nil, nil
		}
	})
	rep := report(r)
	if g := rep.Ladders[0].Rungs[3]; strings.Contains(notices(rep), "times cannot be") || g.Sent != 240 || len(g.Failures) > 0 || g.Latency.N != 180 {
		t.Errorf("%d of them, n %d: %s", g.Sent, g.Latency.N, notices(rep))
	}
}
