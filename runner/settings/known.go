package settings

import "rung/spec/plan"

// known is a setting of a kind of server: what it is called, the flags that set it, and
// whether it limits what the server takes at once.
type known struct {
	name   string
	flags  []string // the first is the one to speak of
	env    string   // a variable that sets it too; empty: none, or as the flag is called
	limit  bool
	toggle bool   // a flag without a value, with --no- for its opposite
	unless string // a setting before it that, where it is set, makes this one void
}

// knownOf are the settings of a kind of server whose flags are known.
func knownOf(s plan.Software) []known {
	switch s {
	case plan.VLLM:
		return []known{
			{name: "max_model_len", flags: []string{"--max-model-len"}, limit: true},
			{name: "max_num_seqs", flags: []string{"--max-num-seqs"}, limit: true},
			{name: "max_num_batched_tokens", flags: []string{"--max-num-batched-tokens"}, limit: true},
			{name: "kv_cache_memory_bytes", flags: []string{"--kv-cache-memory-bytes"}},
			{name: "gpu_memory_utilization", flags: []string{"--gpu-memory-utilization"}, limit: true, unless: "kv_cache_memory_bytes"},
			{name: "num_gpu_blocks", flags: []string{"--num-gpu-blocks-override"}},
			{name: "block_size", flags: []string{"--block-size"}},
			{name: "enable_prefix_caching", flags: []string{"--enable-prefix-caching"}, toggle: true},
		}
	case plan.TEI:
		return []known{
			{name: "max_concurrent_requests", flags: []string{"--max-concurrent-requests"}, limit: true},
			{name: "max_batch_tokens", flags: []string{"--max-batch-tokens"}, limit: true},
			{name: "max_batch_requests", flags: []string{"--max-batch-requests"}},
			{name: "max_client_batch_size", flags: []string{"--max-client-batch-size"}, limit: true},
			{name: "auto_truncate", flags: []string{"--auto-truncate"}},
			{name: "tokenization_workers", flags: []string{"--tokenization-workers"}},
		}
	case plan.LlamaCPP:
		return []known{
			{name: "ctx_size", flags: []string{"-c", "--ctx-size"}, env: "LLAMA_ARG_CTX_SIZE", limit: true},
			{name: "parallel", flags: []string{"-np", "--parallel"}, env: "LLAMA_ARG_N_PARALLEL", limit: true},
			{name: "batch_size", flags: []string{"-b", "--batch-size"}, env: "LLAMA_ARG_BATCH", limit: true},
		}
	case plan.Infinity:
		return []known{{name: "batch_size", flags: []string{"--batch-size"}, env: "INFINITY_BATCH_SIZE", limit: true}}
	case plan.SGLang:
		return []known{
			{name: "context_length", flags: []string{"--context-length"}, limit: true},
			{name: "max_running_requests", flags: []string{"--max-running-requests"}, limit: true},
			{name: "max_total_tokens", flags: []string{"--max-total-tokens"}, limit: true},
			{name: "chunked_prefill_size", flags: []string{"--chunked-prefill-size"}, limit: true},
			{name: "mem_fraction_static", flags: []string{"--mem-fraction-static"}, limit: true},
		}
	default:
		return nil
	}
}
