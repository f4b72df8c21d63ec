package main

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// slopedSpec is a server of embeddings that is started again before each ladder, or not.
func slopedSpec(simulator, restart string) string {
	return fmt.Sprintf(`
experiment "slopes" {}
target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}
simulator {
  memory_per_token = "512KiB"
  %s
}
server {
  command = ["serve"]
  restart = %q
}
gpu { interval = "20ms" }
prompt "p" {
  tokens = 256
  kind   = "prose"
}
prompt "short" { kind = "prose" }
ladder "batch" {
  rungs  = [1, 2, 4, 8, 16]
  prompt = prompt.p
  rounds = 3
}
ladder "length" {
  axis   = "input_tokens"
  rungs  = [256, 512, 1024, 2048, 4096]
  prompt = prompt.short
  rounds = 3
}
`, simulator, restart)
}

// Where batch, length or both take the memory by construction, the words and the
// slopes say so.
func TestMemorySlopesOfServers(t *testing.T) {
	const kib = 1024.0
	for _, tt := range []struct {
		simulator     string
		says          string
		batch, length float64 // bytes a token
	}{
		{"", "it is the product, the tokens in the batch, that binds: lower both", 512 * kib, 512 * kib},
		// An input of 256 tokens takes 256 MiB beside them: 1 MiB a token, and no length more.
		{`memory_per_input = "256MiB"`, "the batch is steeper than the length: lower the batch first", 1536 * kib, 512 * kib},
		// 1 KiB a pair: 256 KiB a token at 256; by least squares of the squares along the lengths, 4,416.
		{"memory_per_token = \"64KiB\"\n  memory_per_pair = \"1KiB\"", "the length is steeper than the batch: lower the length limit first", (64 + 256) * kib, 4480 * kib},
	} {
		spec := slopedSpec(tt.simulator, "ladder")
		if strings.Contains(tt.simulator, "memory_per_token") {
			spec = strings.Replace(spec, "  memory_per_token = \"512KiB\"\n", "", 1)
		}
		m := virtual(t, spec, nil).Memory
		if len(m.Slopes) != 2 || m.Slopes[0].BytesPerToken == nil || m.Slopes[1].BytesPerToken == nil {
			t.Fatalf("%q: %+v", tt.simulator, m.Slopes)
		}
		batch, length := *m.Slopes[0].BytesPerToken, *m.Slopes[1].BytesPerToken
		if !strings.HasSuffix(m.Says, tt.says) || math.Abs(batch/tt.batch-1) > 0.01 || math.Abs(length/tt.length-1) > 0.01 {
			t.Errorf("%q: %q; %.0f and %.0f KiB a token, want %.0f and %.0f", tt.simulator, m.Says, batch/kib, length/kib, tt.batch/kib, tt.length/kib)
		}
		t.Logf("%s: batch %.0f KiB, length %.0f KiB a token; %s", strings.ReplaceAll(tt.simulator, "\n ", ","), batch/kib, length/kib, m.Says)
	}
}

// Without a restart before it a ladder begins where the load before left the memory: it
// has no slope, and says why.
func TestNoSlopeAfterHighWater(t *testing.T) {
	rep := virtual(t, slopedSpec("", "never"), nil)
	s := rep.Memory.Slopes
	if len(s) != 2 || s[0].BytesPerToken == nil || s[1].BytesPerToken != nil || !strings.HasPrefix(s[1].Reason, "after high water") || !rep.Ladders[1].HighWater {
		t.Errorf("%+v", s)
	}
	if strings.Contains(rep.Memory.Says, "steeper") {
		t.Error(rep.Memory.Says)
	}
	for _, r := range rep.Ladders[1].Rungs[:4] {
		if !r.Memory.AfterHighWater {
			t.Errorf("at %g: %+v", r.Value, r.Memory)
		}
	}
}
