package results

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"rung/results/rows"
	"rung/sinks/record"
	"rung/spec/plan"
)

// The values are those of numpy.quantile(x, q) and of DuckDB's quantile_cont.
func TestQuantileIsHyndmanFan7(t *testing.T) {
	x := []float64{0.1, 0.2, 0.4, 0.8, 1.6}
	for q, want := range map[float64]float64{0: 0.1, 0.25: 0.2, 0.5: 0.4, 0.9: 1.28, 0.95: 1.44, 1: 1.6} {
		if got := record.Quantile(x, q); math.Abs(got-want) > 1e-15 {
			t.Errorf("quantile %g = %.17g, want %g", q, got, want)
		}
	}
	if got := record.Quantile([]float64{7}, 0.95); got != 7 {
		t.Errorf("quantile of one value = %g, want 7", got)
	}
}

func TestSummary(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Float64Range(1e-4, 1e3), 1, 200).Draw(t, "latencies")
		s := summarise(x)
		if s.MinS > s.MedianS || s.MedianS > s.P95S || s.P95S > s.MaxS || s.MeanS < s.MinS*(1-1e-12) || s.MeanS > s.MaxS*(1+1e-12) {
			t.Fatalf("out of order: %+v", s)
		}
		if s.P95Supported != (len(x) >= 59) {
			t.Fatalf("P95 of %d marked as supported: %v", len(x), s.P95Supported)
		}
	})
	if summarise(nil) != nil {
		t.Error("a summary of nothing")
	}
}

// call is one request by hand.
func call(inFlight int, sent, done float64, o record.Outcome) record.Request {
	return record.Request{
		Place:    record.Place{Phase: record.Measure, Ladder: "l"},
		InFlight: inFlight, DueTS: sent, SentTS: sent, DoneTS: done, Inputs: 2, InputsDone: 2, Outcome: o, Counted: true,
	}
}

func attemptsOf(calls ...record.Request) []attempt {
	return (&Run{Requests: rows.Of(calls)}).attempts()
}

func inputs() unit {
	return unitOf(plan.OpenAIEmbeddings, plan.AxisBatch, nil)
}

// One at a time: the window is the whole round, and a failure takes time but is
// no work. 3 of 4 requests of 2 inputs in 4 s.
func TestThroughputOneAtATime(t *testing.T) {
	v := visits(attemptsOf(
		call(1, 10, 11, record.OK), call(1, 11, 12, record.OK), call(1, 12, 13, record.ServerError), call(1, 13, 14, record.OK),
	))
	if got := v.flow(inputs().each); *got.rate() != 6.0/4 || *got.inFlight() != 1 {
		t.Errorf("throughput %g, in flight %g, want 1.5 and 1", *got.rate(), *got.inFlight())
	}
}

// Two in flight: the last send is at 12, so the two ends at 13 and 14 are in the
// tail, outside. 2 requests of 2 inputs end in [10, 12], in which two are always
// in flight.
func TestThroughputLeavesTheTailOut(t *testing.T) {
	rows := []record.Request{
		call(2, 10, 11, record.OK), call(2, 10, 12, record.OK), call(2, 11, 13, record.OK), call(2, 12, 14, record.OK),
	}
	for i := range rows {
		rows[i].Index = i
	}
	got := visits(attemptsOf(rows...)).flow(inputs().each)
	if *got.rate() != 4.0/2 || *got.inFlight() != 2 {
		t.Errorf("throughput %g, in flight %g, want 2 and 2", *got.rate(), *got.inFlight())
	}
}

// All at once: there is no steady part, and so no throughput.
func TestThroughputWithoutAWindow(t *testing.T) {
	rows := []record.Request{call(2, 10, 11, record.OK), call(2, 10, 12, record.OK)}
	rows[1].Index = 1
	if got := visits(attemptsOf(rows...)).flow(inputs().each).rate(); got != nil {
		t.Errorf("throughput %g of a round without a window, want none", *got)
	}
}

// Windows of rounds are summed: 2 inputs in 1 s and 2 in 3 s are 4 in 4 s, not the
// mean of 2 and 0.67.
func TestThroughputSumsWindows(t *testing.T) {
	a, b := call(1, 10, 11, record.OK), call(1, 20, 23, record.OK)
	b.Round = 1
	if got := visits(attemptsOf(b, a)).flow(inputs().each).rate(); *got != 1 {
		t.Errorf("throughput %g, want 1", *got)
	}
}

func TestUnits(t *testing.T) {
	r := call(1, 0, 1, record.OK)
	r.OutputTokens = new(64)
	told := attemptsOf(r)
	if u := unitOf(plan.OpenAIChat, plan.AxisConcurrency, told); u.name != tokensPerS || u.worth(told[0].rows.Kind(0)) != 64 {
		t.Errorf("chat with usage: %s worth %g", u.name, u.worth(told[0].rows.Kind(0)))
	}
	r.OutputTokens = nil
	told = attemptsOf(r)
	if u := unitOf(plan.OpenAIChat, plan.AxisConcurrency, told); u.name != requestsPerS || u.worth(told[0].rows.Kind(0)) != 1 || u.reason == "" {
		t.Errorf("chat without usage: %s worth %g, %q", u.name, u.worth(told[0].rows.Kind(0)), u.reason)
	}
}

func TestRefusals(t *testing.T) {
	var rows []record.Request
	add := func(round, attempt int, reason string) {
		r := call(1, float64(len(rows)), float64(len(rows))+1, record.OK)
		r.Round, r.Attempt, r.Counted, r.RejectReason = round, attempt, reason == "", reason
		rows = append(rows, r)
	}
	add(0, 0, "token_mismatch: 1 of 1")
	add(0, 1, "")
	add(1, 0, "client_limited: 1.2 in flight")
	add(1, 1, "client_limited: 1.2 in flight")
	refused, lost := visits(attemptsOf(rows...)).refusals()
	if lost != 1 || len(refused) != 2 || refused[0].Attempts != 2 || !limitedByClient(refused) {
		t.Errorf("refused %v, %d rounds lost", refused, lost)
	}
}
