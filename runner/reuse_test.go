package runner

import (
	"encoding/json"
	"math"
	"testing"

	"rung/sinks/record"
	"rung/spec/plan"
)

// The lengths of a mix come by their shares, and each by its own input's seed.
func TestMixHasItsShares(t *testing.T) {
	m := &material{prompt: plan.Prompt{Name: "p", Mix: []plan.Share{{Tokens: 128, Share: 0.7}, {Tokens: 512, Share: 0.25}, {Tokens: 2048, Share: 0.05}}}}
	const n = 20_000
	p, seen := plan.Plan{Seed: 7}, map[int]int{}
	for i := range n {
		seed := m.drawer(p, plan.Key{Phase: "measure", Ladder: "l", Index: i})(0)
		length := m.length(plan.Shape{InputTokens: 2048}, seed)
		if again := m.length(plan.Shape{InputTokens: 2048}, seed); again != length {
			t.Fatalf("%d, then %d", length, again)
		}
		seen[length]++
	}
	for _, s := range m.prompt.Mix {
		if got := float64(seen[s.Tokens]) / n; math.Abs(got-s.Share) > 0.02 {
			t.Errorf("%d tokens have a share of %g, declared is %g", s.Tokens, got, s.Share)
		}
	}
	if len(seen) != 3 {
		t.Errorf("%v", seen)
	}
}

// inputs runs a ladder of batches and keeps the ids of each measured or warming input.
func inputs(t *testing.T, pr plan.Prompt, tokens, requests int) (out *tape, ids [][]int) {
	t.Helper()
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			var in [][]int
			if json.Unmarshal(q.fields["input"], &in) == nil && q.n > 1 { // the first is the probe
				ids = append(ids, in...)
			}
			return said{}
		}
		l := batchLadder("batch", 2, 2, requests, 1, 3)
		l.Prompt = pr
		for i := range l.Rungs {
			l.Rungs[i].Shape.InputTokens = tokens
		}
		out = walkAll(t, config(f.net, l))
	})
	return out, ids
}

// What is sent of a mix is what the rows say was planned.
func TestMixIsSent(t *testing.T) {
	out, ids := inputs(t, plan.Prompt{Name: "p", Mix: []plan.Share{{Tokens: 8, Share: 0.5}, {Tokens: 24, Share: 0.5}}}, 24, 20)
	seen := map[int]int{}
	for _, in := range ids {
		seen[len(in)]++
	}
	if len(seen) != 2 || seen[8] < 100 || seen[24] < 100 {
		t.Errorf("lengths %v", seen)
	}
	for _, r := range out.rows(phase(record.Measure)) {
		if r.Outcome != record.OK || *r.InputTokens != r.InputTokensPlanned || r.InputTokensPlanned > 24*r.Inputs {
			t.Errorf("%+v", r)
		}
	}
}

// The same prompt is one body for all requests of a shape; the inputs of a batch
// differ.
func TestSameIsOneBody(t *testing.T) {
	out, ids := inputs(t, plan.Prompt{Name: "p", Reuse: plan.Same}, 16, 5)
	if n := distinct(ids); n != 3 {
		t.Errorf("%d different prompts in batches of one and of three", n)
	}
	bodies := map[float64]map[string]bool{1: {}, 3: {}}
	for _, r := range out.rows(phase(record.Measure)) {
		bodies[r.Value][r.BodySHA256] = true
	}
	if len(bodies[1]) != 1 || len(bodies[3]) != 1 {
		t.Errorf("%d bodies of one input, %d of three", len(bodies[1]), len(bodies[3]))
	}
}

func distinct(ids [][]int) int {
	seen := map[string]bool{}
	for _, in := range ids {
		b, _ := json.Marshal(in)
		seen[string(b)] = true
	}
	return len(seen)
}

// A pool has no more prompts than declared, and all of them are used.
func TestPoolIsBounded(t *testing.T) {
	if _, ids := inputs(t, plan.Prompt{Name: "p", Reuse: plan.Pool, Pool: 5}, 16, 10); distinct(ids) != 5 {
		t.Errorf("%d different prompts of a pool of 5, in %d", distinct(ids), len(ids))
	}
}

// No two inputs of a run share a first block of 16 tokens, whichever the rung, pass,
// round or attempt, warm-ups too.
func TestUniqueSharesNoFirstBlock(t *testing.T) {
	_, ids := inputs(t, plan.Prompt{Name: "p", Reuse: plan.Unique}, 40, 30)
	seen := map[[16]int]bool{}
	for _, in := range ids {
		seen[[16]int(in[:16])] = true
	}
	if len(ids) != 2*(1+2*30+3*(1+2*30)) || len(seen) != len(ids) {
		t.Errorf("%d first blocks of %d inputs", len(seen), len(ids))
	}
}
