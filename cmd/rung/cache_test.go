package main

import (
	"fmt"
	"strings"
	"testing"
)

const cachedSpec = `
experiment "cached" {
  seed = var.seed
}
variable "seed" { type = number }
variable "reuse" { default = "unique" }
target {
  api   = "openai-embeddings"
  model = "m"
}
simulator {
  prefix_cache = true
}
prompt "p" {
  tokens = 512
  reuse  = var.reuse
}
ladder "batch" {
  rungs  = doubling(1, 32)
  passes = 5
}
`

// A prefix cache moves no knee: prompts share no first block. The card reads its
// weights in 10 ms, as long as the arithmetic of 4.9 inputs takes, so that the power
// X²/N is highest at 4.
func TestPrefixCacheMovesNoKnee(t *testing.T) {
	right, seeds := 0, 10
	if raced {
		seeds = 1
	}
	for seed := range seeds {
		l := virtual(t, cachedSpec, map[string]string{"seed": fmt.Sprint(seed)}).Ladders[0]
		if l.Knee.Best != nil && *l.Knee.Best == 4 {
			right++
		} else {
			t.Logf("seed %d: %+v", seed, l.Knee)
		}
	}
	t.Logf("the true best rung, 4, in %d of %d", right, seeds)
	if 10*right < 9*seeds {
		t.Errorf("the true best rung in %d of %d", right, seeds)
	}
}

// Where all prompts are one, what the cache answers is refused, rung by rung, and no
// figure stands.
func TestSamePromptIsRefused(t *testing.T) {
	rep := virtual(t, cachedSpec, map[string]string{"seed": "1", "reuse": "same"})
	l := rep.Ladders[0]
	if l.Knee.Best != nil || l.Limit.Value != nil {
		t.Errorf("a knee of %v, a limit of %v", l.Knee, l.Limit)
	}
	said := fmt.Sprintf("%+v", rep)
	if !strings.Contains(said, "served from the cache") {
		t.Error("the report does not say why")
	}
	for _, r := range l.Rungs {
		if r.Throughput != nil {
			t.Errorf("rung %g has a throughput", r.Value)
		}
	}
}
