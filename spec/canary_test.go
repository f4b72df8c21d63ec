package spec

import (
	"errors"
	"strings"
	"testing"
)

const canarySpec = minimalHead + `
prompt "p" { tokens = 8 }
ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 2
}
ladder "concurrency" { rungs = [1, 2] }
retest {
  ladder = ladder.concurrency
}
`

const minimalHead = `
experiment "x" {}
target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}
`

// A canary has the ladders' own work at their limits alone; twice the same, it has the
// same workload hash, and none of a whole run.
func TestCanary(t *testing.T) {
	p := mustLoad(t, canarySpec, Options{}).Plan
	whole := p.Digest()
	limits := map[string]float64{"batch": 4}
	c, err := Canary(p, p.Cells[0], limits)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := Canary(p, p.Cells[0], limits)
	l := c.Cells[0].Ladders
	if len(l) != 1 || len(l[0].Rungs) != 1 || l[0].Rungs[0].Value != 4 || l[0].Rungs[0].Index != 0 || len(l[0].Passes) != 2 || len(c.Cells[0].Retests) != 0 {
		t.Errorf("%+v", c.Cells[0])
	}
	if c.WorkloadHash == p.WorkloadHash || c.WorkloadHash != again.WorkloadHash || c.Cells[0].WorkloadHash != c.WorkloadHash || c.SpecHash != p.SpecHash {
		t.Error("hashes")
	}
	if p.Digest() != whole {
		t.Error("the plan itself was changed")
	}
	if _, err := Canary(p, p.Cells[0], map[string]float64{"batch": 3}); err == nil || !strings.Contains(err.Error(), `ladder "batch" has no rung at 3, its limit: it has 1, 2, 4`) {
		t.Errorf("%v", err)
	}
	if _, err := Canary(p, p.Cells[0], nil); !errors.Is(err, ErrNoLimit) {
		t.Errorf("%v", err)
	}
}
