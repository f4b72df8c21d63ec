package plan

import "testing"

func TestFlagsAreFound(t *testing.T) {
	s := Server{Command: []string{"/usr/bin/other", "m", "--max_model_len", "8k", "--max-num-seqs=8", "-np", "2", "--last"},
		Env: []Header{{Name: "MAX_BATCH_SIZE", Value: "4"}, {Name: "NP", Value: "9"}}}
	for flag, want := range map[string]string{"--max-model-len": "8k", "--max-num-seqs": "8", "--last": "", "--max-batch-size": "4", "-np": "2"} {
		if got, ok := s.Flag(flag); !ok || got != want {
			t.Errorf("%s: %q, %v", flag, got, ok)
		}
	}
	for _, none := range []string{"--max", "-n", "--np-x"} {
		if _, ok := s.Flag(none); ok {
			t.Errorf("%s is not there", none)
		}
	}
	if v, ok := s.Flag("--batch", "--max-num-seqs"); !ok || v != "8" {
		t.Errorf("%q, %v", v, ok)
	}
}

// A server that does not read a variable for a flag is not taken for one that does.
func TestVariablesForFlags(t *testing.T) {
	env := []Header{{Name: "MAX_BATCH_TOKENS", Value: "4"}}
	if v, ok := (Server{Command: []string{"text-embeddings-router"}, Env: env}).Flag("--max-batch-tokens"); !ok || v != "4" {
		t.Errorf("%q, %v", v, ok)
	}
	if v, ok := (Server{Command: []string{"vllm", "serve", "m"}, Env: env}).Flag("--max-batch-tokens"); ok {
		t.Errorf("%q", v)
	}
}

func TestSoftwareOfACommand(t *testing.T) {
	for _, tt := range []struct {
		want    Software
		command []string
	}{
		{VLLM, []string{"taskset", "-c", "0", "/opt/v/bin/vllm", "serve", "m"}},
		{VLLM, []string{"python", "-m", "vllm.entrypoints.openai.api_server"}},
		{TEI, []string{"text-embeddings-router", "--model-id", "m"}},
		{LlamaCPP, []string{"/opt/llama-server", "-m", "x.gguf"}},
		{LlamaCPP, []string{"python3", "llama_server.py"}},
		{Infinity, []string{"infinity_emb", "v2"}},
		{SGLang, []string{"python3", "-m", "sglang.launch_server"}},
		{"", []string{"vllm", "bench"}},
		{"", []string{"sh", "-c", "exec vllm serve m"}},
		{"", nil},
	} {
		if got := (Server{Command: tt.command}).Software(); got != tt.want {
			t.Errorf("%v: %q, want %q", tt.command, got, tt.want)
		}
	}
}
