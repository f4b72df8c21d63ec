package metrics

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"rung/sinks/record"
)

// What a real vLLM says of its memory for tokens; other servers say nothing of the kind.
func TestSettings(t *testing.T) {
	want := []record.Setting{
		{Name: "block_size", InForce: "128", Source: cacheConfig}, {Name: "enable_prefix_caching", InForce: "True", Source: cacheConfig},
		{Name: "gpu_memory_utilization", InForce: "0.92", Source: cacheConfig}, {Name: "kv_cache_memory_bytes", InForce: "1073741824", Source: cacheConfig},
		{Name: "num_gpu_blocks", InForce: "8192", Source: cacheConfig},
	}
	if d := cmp.Diff(want, reader(t, texts(t, file(t, "testdata/vllm.txt"))).Settings(t.Context())); d != "" {
		t.Error(d)
	}
	for _, page := range []string{file(t, "testdata/tei.txt"), ""} {
		if got := reader(t, texts(t, page)).Settings(t.Context()); got != nil {
			t.Errorf("%v", got)
		}
	}
}
