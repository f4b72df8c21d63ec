package sim

import (
	"strings"
	"testing"

	"rung/spec/plan"
)

// The server's own page, while it works and after.
func TestMetrics(t *testing.T) {
	p := params()
	p.PrefixCache, p.Preallocate = true, 0.5 // a pool of 2,000 tokens
	bubble(t, plan.OpenAICompletions, p, func(t *testing.T, b *bench) {
		end := begin(5, func(i int) exchanged { return b.complete(100*i, 90, 10, true) })
		for name, want := range map[string]string{"num_requests_running": "2", "num_requests_waiting": "3", "kv_cache_usage_perc": "0.09"} { // 180 of 2,000 tokens
			if got := b.metric(name); got != want {
				t.Errorf("%s is %s under load, want %s", name, got, want)
			}
		}
		end()
		for name, want := range map[string]string{
			"num_requests_running": "0", "num_requests_waiting": "0", "kv_cache_usage_perc": "0", "num_preemptions_total": "0",
			"prompt_tokens_total": "450", "generation_tokens_total": "50", `request_success_total{engine="0",model_name="m",finished_reason="length"}`: "5",
			`request_success_total{engine="0",model_name="m",finished_reason="stop"}`: "0",
		} {
			if got := b.metric(name); got != want {
				t.Errorf("%s is %s, want %s", name, got, want)
			}
		}
		page := b.page("/metrics")
		for _, want := range []string{"# TYPE vllm:num_preemptions_total counter\n", "# TYPE vllm:request_success_total counter\n",
			`vllm:cache_config_info{engine="0",model_name="m",block_size="16",cache_dtype="auto",enable_prefix_caching="True",gpu_memory_utilization="0.5",num_gpu_blocks="125"} 1`} {
			if strings.Count(page, want) != 1 {
				t.Errorf("%q is not once in %s", want, page)
			}
		}
	})
}
