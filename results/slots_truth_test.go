package results_test

import (
	"fmt"
	"testing"

	"rung/results"
	"rung/results/resultstest"
	"rung/spec/plan"
)

// servers are simulated servers whose best rung is known by construction: with so many
// slots a closed loop gains until they are full, and a batch gains until a forward takes
// longer with it.
func servers() map[string]struct {
	options func(seed uint64) resultstest.Options
	best    float64
} {
	type server = struct {
		options func(seed uint64) resultstest.Options
		best    float64
	}
	out := map[string]server{}
	for _, slots := range []int{1, 2, 4} {
		out[fmt.Sprintf("%d slots", slots)] = server{func(seed uint64) resultstest.Options {
			l := resultstest.Ladder("concurrency", plan.AxisConcurrency, 5, 1, 40, 1, 2, 4, 8)
			for i := range l.Rungs {
				l.Rungs[i].Requests = 40
			}
			return resultstest.Options{Ladders: []plan.Ladder{l}, NoGPU: true, Slots: slots, Noise: 0.1, Seed: seed,
				Service: func(plan.Shape) float64 { return 0.05 }}
		}, float64(slots)}
	}
	out["plateau at 16"] = server{func(seed uint64) resultstest.Options {
		return resultstest.Options{Ladders: []plan.Ladder{resultstest.Ladder("batch", plan.AxisBatch, 5, 20, 1, 1, 2, 4, 8, 16, 32)}, NoGPU: true, Noise: 0.1, Seed: seed,
			Service: func(s plan.Shape) float64 { return 0.001 * float64(max(16, s.Batch)) }}
	}, 16}
	return out
}

// The walking rules, as people use them by hand, on servers of known slots and on one with
// a plateau: over fifty seeds they answer with the true best rung, or that the knee was not
// reached, in nine of ten.
func TestTruthOfWalkingRules(t *testing.T) {
	const seeds = 50
	for _, rule := range []string{"half_increment", "gain_and_p95"} {
		for name, s := range servers() {
			t.Run(rule+", "+name, func(t *testing.T) {
				right, notReached := 0, 0
				answers := map[string]int{}
				for seed := range uint64(seeds) {
					k := results.Analyse(s.options(seed).Run().Sealed(), resultstest.Rules(rule)).Ladders[0].Knee
					switch {
					case k.Best != nil && *k.Best == s.best:
						right++
					case k.Answer == results.NotReached:
						notReached++
					}
					answers[answerOf(k)]++
				}
				t.Logf("right in %d, not reached in %d of %d: %v", right, notReached, seeds, answers)
				if 10*(right+notReached) < 9*seeds {
					t.Errorf("the true best rung, %g, or not reached in %d of %d", s.best, right+notReached, seeds)
				}
			})
		}
	}
}

func answerOf(k results.Knee) string {
	if k.Best != nil {
		return fmt.Sprintf("%s %g", k.Answer, *k.Best)
	}
	return string(k.Answer)
}
