package target

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rung/sinks/record"
	"rung/spec/plan"
)

// teiServer has no list of models; its page about itself is as given.
func teiServer(t *testing.T, status int, info string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/info" {
			http.NotFound(w, r)
			return
		}
		w.WriteHeader(status)
		fmt.Fprint(w, info)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// A server without a list of models says on a page about itself what it serves and
// what it takes.
func TestDiscoverTEI(t *testing.T) {
	const info = `{"model_id":%q,"served_model_name":%q,"model_sha":null,"model_dtype":"float16","model_type":{"embedding":{"pooling":"mean"}},` +
		`"max_concurrent_requests":512,"max_input_length":8192,"max_batch_tokens":16384,"max_batch_requests":null,"max_client_batch_size":32,"version":"1.8.0"}`
	whole := record.Server{Software: "text-embeddings-inference", Version: "1.8.0", Models: []string{"m"}, MaxModelLen: new(8192), MaxBatch: new(32), MaxConcurrent: new(512)}
	served := whole
	served.Models = []string{"/data/weights", "m"}
	for _, tt := range []struct {
		name   string
		status int
		info   string
		want   Discovery
		err    string
	}{
		{"its model", 200, fmt.Sprintf(info, "m", "m"), Discovery{Server: whole, ListsModel: true}, ""},
		{"by the name that it serves", 200, fmt.Sprintf(info, "/data/weights", "m"), Discovery{Server: served, ListsModel: true}, ""},
		{"limits that are none", 200, `{"model_id":"m","max_input_length":0,"max_client_batch_size":-1}`,
			Discovery{Server: record.Server{Software: "text-embeddings-inference", Models: []string{"m"}}, ListsModel: true}, ""},
		{"another model", 200, fmt.Sprintf(info, "other", "alias"), Discovery{}, `has no model "m": it serves "other", "alias"; set target.model to that`},
		{"a page of another kind", 200, `{"name":"a web server"}`, Discovery{}, ""},
		{"no JSON", 200, "<html>", Discovery{}, ""},
		{"no such page", 404, "", Discovery{}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := client(t, plan.TEIEmbed, teiServer(t, tt.status, tt.info)).Discover(t.Context())
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, d); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The server's own count of cached tokens, as servers write it; several engines add up.
func TestCachedTokens(t *testing.T) {
	for page, want := range map[string]float64{
		"# TYPE vllm:prefix_cache_hits_total counter\nvllm:prefix_cache_hits_total{engine=\"0\",model_name=\"a b}c\"} 48.0\nvllm:prefix_cache_hits_total{engine=\"1\"} 1.6e+01\nvllm:prefix_cache_hits_created{engine=\"0\"} 1.7e9\n": 64,
		"llamacpp:prompt_tokens_cached_total 32\n": 32,
		"":                              -1,
		"vllm:num_requests_running 1\n": -1,
		"vllm:prefix_cache_hits_total{engine=\"0\"} NaN\n": -1,
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, page) }))
		n, ok := client(t, plan.OpenAIEmbeddings, s.URL).CachedTokens(t.Context())
		if ok != (want >= 0) || ok && n != want {
			t.Errorf("%q: %g, %t", page, n, ok)
		}
		s.Close()
	}
}
