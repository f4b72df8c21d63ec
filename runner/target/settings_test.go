package target

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rung/spec/plan"
)

// captured is a server that answers the paths with bodies of real ones.
func captured(t *testing.T, pages map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = fmt.Fprint(w, page)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func bodyOf(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile("testdata/captures/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var in struct {
		Body json.RawMessage `json:"body"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		t.Fatal(err)
	}
	return string(in.Body)
}

// Real servers' pages tell their settings; what is none is left out.
func TestSettings(t *testing.T) {
	for _, tt := range []struct{ model, software, path, body, want string }{
		{"tiny", "vllm", "/v1/models", bodyOf(t, "vllm-chat/get_models.json"), "max_model_len=512 (/v1/models)"},
		{"minilm", "infinity", "/v1/models", bodyOf(t, "infinity/get_models.json"), "batch_size=8 (/v1/models)"},
		{"m", "llama.cpp", "/props", bodyOf(t, "llamacpp/get_props.json"), "parallel=2 (/props), ctx_slot=512 (/props)"},
		{"m", "text-embeddings-inference", "/info", bodyOf(t, "tei/get_info.json"), "max_concurrent_requests=512 (/info), max_input_length=256 (/info), " +
			"max_batch_tokens=16384 (/info), max_batch_requests=8 (/info), max_client_batch_size=32 (/info), auto_truncate=true (/info), tokenization_workers=1 (/info)"},
		{"m", "", "/v1/models", `{"data":[{"id":"m","max_model_len":{"a":1}},{"id":"n","max_model_len":4}]}`, ""},
		{"m", "", "/v1/models", `{"data":[{"id":"m","max_model_len":"` + strings.Repeat("9", 300) + `"}]}`, "max_model_len=" + strings.Repeat("9", maxSetting) + " (/v1/models)"},
		{"m", "llama.cpp", "/other", "", ""},
		{"m", "text-embeddings-inference", "/info", "<html>", ""},
	} {
		c := client(t, plan.OpenAIEmbeddings, captured(t, map[string]string{tt.path: tt.body}))
		c.model = tt.model
		var got []string
		for _, s := range c.Settings(t.Context(), tt.software) {
			got = append(got, fmt.Sprintf("%s=%s (%s)", s.Name, s.InForce, s.Source))
		}
		if d := cmp.Diff(tt.want, strings.Join(got, ", ")); d != "" {
			t.Errorf("%s: %s", tt.software, d)
		}
	}
}
