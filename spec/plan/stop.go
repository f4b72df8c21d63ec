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

// DefaultStop is what holds where a ladder says nothing of it.
func DefaultStop() Stop {
	return Stop{Outcomes: []string{"oom", "cuda_error", "reset", "refused"}, FailureRatio: 0.01, ConfirmRounds: 3, MinRequests: 20}
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

// Pace is what the rules of slowness look at: a rung's counted successes so far.
type Pace struct {
	Done        int     // successes
	P95         float64 // of their latency, seconds
	BaselineP95 float64 // 0: not known
	Throughput  float64
	BestBelow   float64 // throughput of the best rung below; 0: not known
}

// Slow judges a rung that does not fail: the reason why it is an edge of the kind
// "slow", or "" where it is not. Before MinRequests successes nothing is said.
func (s Stop) Slow(p Pace) string {
	if p.Done < max(1, s.MinRequests) {
		return ""
	}
	if s.P95OverBaseline != nil && p.BaselineP95 > 0 && p.P95 > *s.P95OverBaseline*p.BaselineP95 {
		return fmt.Sprintf("slow: P95 of the latency is %.3g s, more than %g times the baseline's %.3g s", p.P95, *s.P95OverBaseline, p.BaselineP95)
	}
	if s.ThroughputDrop != nil && p.BestBelow > 0 && p.Throughput < (1-*s.ThroughputDrop)*p.BestBelow {
		return fmt.Sprintf("slow: throughput is %.4g a second, more than %g %% below the %.4g of the best rung below", p.Throughput, 100**s.ThroughputDrop, p.BestBelow)
	}
	return ""
}

// TripsAtOnce says whether an outcome stops the sending by itself.
func (s Stop) TripsAtOnce(outcome string) bool { return slices.Contains(s.Outcomes, outcome) }

// Add counts n requests of one outcome that were not cancelled. failed says that the server
// failed them. The runner and the report count by this alone, so that they find the same edge.
func (t *Tally) Add(outcome string, failed bool, n int) {
	t.Total += n
	if !failed {
		return
	}
	t.Failures += n
	if t.ByName == nil {
		t.ByName = map[string]int{}
	}
	t.ByName[outcome] += n
}
