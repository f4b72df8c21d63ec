package settings

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rung/sinks/record"
	"rung/spec/plan"
)

// The lines are as real servers printed them.
func TestFromLine(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{`(APIServer pid=17461) INFO 11-30 13:41:40 [model.py:2152] Using max model len 2048`, "max_model_len 2048"},
		{`(APIServer pid=17461) INFO 11-30 13:41:15 [api_utils.py:286] non-default args: {'model_tag': 'm', 'max_model_len': 2048, 'max_num_seqs': 2}`, "max_num_seqs 2"},
		{`(EngineCore pid=20347) INFO 11-30 13:42:38 [kv_cache_utils.py:2327] CPU KV cache size: 1,048,576 tokens, Maximum concurrency for 2,048 tokens per request: 512.00x`, "kv_cache_size_tokens 1048576"},
		{`0.00.443.727 I srv    load_model: initializing, n_slots = 2, n_ctx_slot = 512, kv_unified = 'false'`, "parallel 2 ctx_slot 512 kv_unified false"},
		{`INFO:     127.0.0.1:42510 - "POST /v1/completions HTTP/1.1" 200 OK`, ""},
		{strings.Repeat("x", mostRead) + "Using max model len 2048", ""},
	} {
		var got []string
		for _, s := range FromLine(tt.line) {
			got = append(got, s.Name+" "+s.InForce)
		}
		if g := strings.Join(got, " "); g != tt.want {
			t.Errorf("%s: %q, want %q", tt.line, g, tt.want)
		}
	}
}

func said(pairs ...string) (out []record.Setting) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, record.Setting{Name: pairs[i], InForce: pairs[i+1], Source: "page"})
	}
	return out
}

func TestCompare(t *testing.T) {
	for _, tt := range []struct {
		name    string
		command []string
		said    []record.Setting
		want    []string
	}{
		{"as asked", []string{"vllm", "serve", "m", "--max-model-len", "512", "--max-num-seqs=2", "--max-num-batched-tokens", "2048", "--gpu-memory-utilization", "0.9"},
			said("max_model_len", "512", "max_num_seqs", "2", "gpu_memory_utilization", "0.90"), nil},
		{"clipped", []string{"vllm", "serve", "m", "--max-model-len", "4096", "--max-num-seqs", "2", "--max-num-batched-tokens", "2048", "--gpu-memory-utilization", "0.9"},
			said("max_model_len", "512"), []string{"the server runs with max_model_len 512 (page), and its command asks for --max-model-len 4096"}},
		{"the server's choice", []string{"llama-server", "-c", "0", "-np", "-1", "-b", "512"}, said("ctx_slot", "512", "parallel", "4", "kv_unified", "true"), nil},
		{"left", []string{"vllm", "serve", "m", "--max-model-len", "auto"}, said("max_model_len", "512", "kv_cache_memory_bytes", "1073741824"),
			[]string{"the server's command leaves these limits open: --max-num-batched-tokens, which the server does not tell; --max-num-seqs, which the server does not tell: what is measured holds for this version and machine"}},
		{"left and told", []string{"vllm", "serve", "m", "--max-model-len=1", "--max-num-seqs=1", "--max-num-batched-tokens=1"}, said("gpu_memory_utilization", "0.92", "kv_cache_memory_bytes", "None", "max_model_len", "1"),
			[]string{"the server's command leaves these limits open: --gpu-memory-utilization, which is 0.92 (page): what is measured holds for this version and machine"}},
		{"from a file", []string{"vllm", "serve", "m", "--config", "x.yaml"}, nil, nil},
		{"toggle", []string{"vllm", "serve", "m", "--config", "x.yaml", "--no-enable-prefix-caching"}, said("enable_prefix_caching", "True"),
			[]string{"the server runs with enable_prefix_caching True (page), and its command asks for --enable-prefix-caching false"}},
		{"context of the slots", []string{"llama-server", "--ctx-size", "1000", "-np", "2", "-b", "512"}, said("ctx_slot", "512", "parallel", "2", "kv_unified", "false"),
			[]string{"the server runs with ctx_size 1024 (log), and its command asks for -c 1000"}},
		{"by a variable", []string{"infinity_emb", "v2"}, said("batch_size", "8"),
			[]string{"the server runs with batch_size 8 (page), and its command asks for --batch-size 16"}},
		{"unknown program", []string{"sh", "-c", "exec vllm serve m"}, said("max_model_len", "512"), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, notices := Compare(&plan.Server{Command: tt.command, Env: []plan.Header{{Name: "INFINITY_BATCH_SIZE", Value: "16"}}}, tt.said)
			if d := cmp.Diff(tt.want, notices); d != "" {
				t.Error(d)
			}
		})
	}
}

// Of a server that is attached only what it says is known.
func TestCompareAttached(t *testing.T) {
	all, notices := Compare(nil, append(said("max_model_len", "512"), said("max_model_len", "1024", "block_size", "")...))
	if d := cmp.Diff([]record.Setting{{Name: "max_model_len", InForce: "512", Source: "page"}}, all); d != "" || notices != nil {
		t.Errorf("%s %v", d, notices)
	}
}
