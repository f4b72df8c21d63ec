package resultstest

import (
	"rung/results"
	"rung/results/rows"
	"rung/sinks/record"
)

// Recorded is a run with its requests and its server's metrics in the form in which they
// are recorded, so that a test can change them.
type Recorded struct {
	results.Run
	Requests []record.Request
	Metrics  []record.ServerSample
}

// Sealed is the run as it is read, with the rows as they now are.
func (r *Recorded) Sealed() *results.Run {
	run := r.Run
	run.Requests, run.Metrics = rows.Of(r.Requests), rows.Gauges(r.Metrics)
	return &run
}
