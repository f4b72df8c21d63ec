package results

import (
	"fmt"

	"rung/sinks/record"
)

// The shapes of an end of a ladder.
const (
	ShapeEachRound = "each round"
	ShapeFromRound = "from round n" // as memory that fragments, or a cache that grows
	ShapeAtTimes   = "at times"
	ShapeSlow      = "slow without failing" // time up, throughput down
)

// EndShape says how a ladder ends: where it fails, whether in each round, and where it
// does not, whether it becomes slow instead.
type EndShape struct {
	Kind  string  `json:"kind"`
	Value float64 `json:"value"` // of the rung
	Round int     `json:"round"` // from round n: the first that failed there, counted from 1
	Says  string  `json:"says"`
}

// lostAll is the share of its throughput by which a rung that does not fail must fall
// below the best under it to be a cliff.
const lostAll = 0.10

// findShape says how the ladder ends; nil where it neither fails nor falls.
func (w *walked) findShape() {
	switch e := w.out.Edge; {
	case e != nil && e.Kind == EdgeFails:
		w.out.Shape = w.failing(e)
	case e != nil:
		w.out.Shape = &EndShape{Kind: ShapeSlow, Value: e.Value, Says: fmt.Sprintf("%g is too slow and does not fail: %s", e.Value, e.Reason)}
	default:
		w.out.Shape = w.falling()
	}
}

// failing looks at the rounds of the pass in which the edge first failed, and at those
// that were to confirm it, in order of time.
func (w *walked) failing(e *Edge) *EndShape {
	v := w.rows[e.Index]
	out := &EndShape{Kind: ShapeEachRound, Value: e.Value}
	rounds := append(v.in(record.Measure).pass(e.Pass), v.in(record.Confirm).pass(e.Pass)...)
	failed := make([]bool, len(rounds))
	first, after, confirming := -1, 0, 0
	for i, a := range rounds {
		failed[i] = visits{a}.tally().Failures > 0
		if failed[i] && first < 0 {
			first = i
		}
		if a.Phase == record.Confirm {
			confirming++
		}
		if first >= 0 && !failed[i] {
			after++
		}
	}
	switch {
	case first < 0 || e.AtTimes || after > 0:
		out.Kind, out.Says = ShapeAtTimes, fmt.Sprintf("%g fails at times", e.Value)
	case first == 0:
		out.Says = fmt.Sprintf("%g fails in each round", e.Value)
	case confirming == 0:
		out.Kind, out.Says = ShapeAtTimes, fmt.Sprintf("%g passed %s before it failed, and no further ones were sent to tell whether it fails ever after", e.Value, count(first, "round", "rounds"))
	default:
		out.Kind, out.Round = ShapeFromRound, first+1
		out.Says = fmt.Sprintf("%g fails from round %d on, after %s that passed", e.Value, out.Round, count(first, "round", "rounds"))
	}
	return out
}

// falling finds the first rung, of those that did not fail, whose throughput falls off
// a cliff while its latency rises.
func (w *walked) falling() *EndShape {
	if !w.plan.Axis.HasKnee() || w.out.NotRising != "" {
		return nil
	}
	rungs, _ := w.usable()
	var best *Rung
	for _, r := range rungs {
		if best != nil && *r.Throughput < (1-lostAll)**best.Throughput && r.Latency.MedianS > best.Latency.MedianS {
			return &EndShape{Kind: ShapeSlow, Value: r.Value, Says: fmt.Sprintf("%g does not fail and is slow: %s of the throughput at %g, and %.1f times the median latency",
				r.Value, percent(*r.Throughput / *best.Throughput), best.Value, r.Latency.MedianS/best.Latency.MedianS)}
		}
		if best == nil || *r.Throughput > *best.Throughput {
			best = r
		}
	}
	return nil
}
