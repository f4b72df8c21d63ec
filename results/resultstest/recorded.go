package resultstest

import (
	"rung/results"
	"rung/results/rows"
	"rung/sinks/record"
)

// Recorded is a run with its requests in the form in which they are recorded, so that a
// test can change them.
type Recorded struct {
	results.Run
	Requests []record.Request
}

// Sealed is the run as it is read, with the requests as they now are.
func (r *Recorded) Sealed() *results.Run {
	run := r.Run
	run.Requests = rows.Of(r.Requests)
	return &run
}
