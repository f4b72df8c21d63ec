package results

import (
	"testing"

	"rung/results/rows"
	"rung/sinks/record"
)

// BenchmarkAttempts sorts a million requests that lie in no order.
func BenchmarkAttempts(b *testing.B) {
	calls := make([]record.Request, 1_000_000)
	for i := range calls {
		j := (i * 7919) % len(calls)
		calls[i] = record.Request{
			Place: record.Place{Phase: record.Measure, Ladder: "batch", Rung: j % 7, Pass: j / 7 % 5, Round: j / 35 % 20},
			Index: j / 700, SentTS: float64(j), DoneTS: float64(j) + 1, InFlight: 1, Outcome: record.OK, Counted: true,
		}
	}
	for b.Loop() {
		(&Run{Requests: rows.Of(calls)}).attempts()
	}
}
