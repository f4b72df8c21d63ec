package plan

import (
	"fmt"
	"slices"
)

// Stop says what makes a rung the edge, for the runner and the report alike.
type Stop struct {
	Outcomes      []string `json:"outcomes"`      // one of them is enough, at once
	FailureRatio  float64  `json:"failure_ratio"` // more failures than this, from two on
	ConfirmRounds int      `json:"confirm_rounds"`

	// These two make an edge of the kind "slow", which is no failure. They are looked
	// at from MinRequests completions on; nil leaves one out.
	MinRequests     int      `json:"min_requests"`
	P95OverBaseline *float64 `json:"p95_over_baseline,omitempty"` // P95 of the latency over the baseline's
	ThroughputDrop  *float64 `json:"throughput_drop,omitempty"`   // share lost of the best rung's below
}

// Tally counts what became of a rung's measured requests.
type Tally struct {
	Total    int            // all that were sent and not cancelled
	Failures int            // those that the server failed
	ByName   map[string]int // failures by outcome
}

// Edge judges a rung: the reason why it is the edge, or "" where it is not.
// outcomes are looked at in the order in which the spec names them, so that the
// same tally always gives the same words.
func (s Stop) Edge(t Tally) string {
	for _, o := range s.Outcomes {
		if n := t.ByName[o]; n > 0 {
			return fmt.Sprintf("outcome %s in %d of %d requests", o, n, t.Total)
		}
	}
	if t.Failures >= 2 && float64(t.Failures) > s.FailureRatio*float64(t.Total) {
		return fmt.Sprintf("%d of %d requests failed, more than the declared ratio of %g", t.Failures, t.Total, s.FailureRatio)
	}
	return ""
}

// TripsAtOnce says whether an outcome stops the sending by itself.
func (s Stop) TripsAtOnce(outcome string) bool { return slices.Contains(s.Outcomes, outcome) }

// Add counts one request that was not cancelled. failed says that the server failed
// it. The runner and the report count by this alone, so that they find the same edge.
func (t *Tally) Add(outcome string, failed bool) {
	t.Total++
	if !failed {
		return
	}
	t.Failures++
	if t.ByName == nil {
		t.ByName = map[string]int{}
	}
	t.ByName[outcome]++
}
