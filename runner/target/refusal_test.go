package target

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"rung/sinks/record"
	"rung/spec/plan"
)

// refusal is an answer that is no success.
type refusal struct {
	status int
	body   string
	want   record.Outcome
	limit  record.Limit
}

func (f refusal) check(t *testing.T, name string) {
	t.Helper()
	c := client(t, plan.OpenAIEmbeddings, "http://127.0.0.1:1")
	a := c.Read(Reply{Status: f.status, Body: []byte(f.body), Header: http.Header{}}, Want{Inputs: 1})
	if a.Outcome != f.want || a.Limit != f.limit {
		t.Errorf("%s: %s, limit %q; want %s, limit %q", name, a.Outcome, a.Limit, f.want, f.limit)
	}
}

// TEI's statuses have fixed meanings, in both of its forms of an error.
func TestCase07(t *testing.T) {
	for name, f := range map[string]refusal{
		"backend, out of memory": {424, `{"error":"Backend error: DriverError(CUDA_ERROR_OUT_OF_MEMORY, \"out of memory\")","error_type":"Backend"}`, record.OOM, ""},
		"backend":                {424, `{"error":"Backend error: model is not a re-ranker model","error_type":"Backend"}`, record.ServerError, ""},
		"overloaded":             {429, `{"error":"Model is overloaded","error_type":"Overloaded"}`, record.Overloaded, ""},
		"overloaded, flat":       {429, `{"message":"Model is overloaded","code":429,"type":"Overloaded"}`, record.Overloaded, ""},
		"a quota":                {429, `{"error":{"message":"You exceeded your current quota"}}`, record.RateLimited, ""},
		"tokenizer":              {422, `{"error":"Tokenization error: bad input","error_type":"Tokenizer"}`, record.ClientError, ""},
		"validation":             {413, "{\"error\":\"`inputs` must have less than 512 tokens. Given: 534\",\"error_type\":\"Validation\"}", record.TooLong, record.LimitTokens},
		"validation, as 422":     {422, "{\"message\":\"Input validation error: `inputs` must have less than 256 tokens. Given: 302\",\"code\":422,\"type\":\"Validation\"}", record.TooLong, record.LimitTokens},
		"empty":                  {400, `{"error":"Input validation error: inputs cannot be empty","error_type":"Empty"}`, record.ClientError, ""},
		"unhealthy":              {503, `{"error":"Model is not healthy","error_type":"Unhealthy"}`, record.Unavailable, ""},
	} {
		f.check(t, name)
	}
}

// A 413 has three meanings, each with a setting of its own, and none is memory.
func TestCase09(t *testing.T) {
	for name, f := range map[string]refusal{
		"inputs":         {413, `{"error":"batch size 100 > maximum allowed batch size 32","error_type":"Validation"}`, record.TooLong, record.LimitBatch},
		"bytes":          {413, "Failed to buffer the request body: length limit exceeded", record.TooLong, record.LimitPayload},
		"tokens":         {413, "{\"error\":\"`inputs` must have less than 512 tokens. Given: 534\"}", record.TooLong, record.LimitTokens},
		"no word of why": {413, "", record.TooLong, record.LimitPayload},
	} {
		f.check(t, name)
	}
	settings := map[string]record.Limit{}
	for _, l := range []record.Limit{record.LimitBatch, record.LimitPayload, record.LimitTokens, record.LimitCharacters, record.LimitSlots, record.LimitPhysical} {
		s := l.Setting()
		if other, twice := settings[s]; twice || s == "" {
			t.Errorf("%s and %s name the same setting %q", l, other, s)
		}
		settings[s] = l
	}
}

// One out of memory is one, by whichever status and words it comes.
func TestCase10(t *testing.T) {
	for name, f := range map[string]refusal{
		"TEI":                  {424, `{"error":"Backend error: DriverError(CUDA_ERROR_OUT_OF_MEMORY)","error_type":"Backend"}`, record.OOM, ""},
		"vLLM":                 {500, `{"error":{"message":"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB","code":500}}`, record.OOM, ""},
		"the echo of a prompt": {422, `{"detail":[{"input":"CUDA out of memory"}]}`, record.ClientError, ""},
	} {
		f.check(t, name)
	}
}

// A limit in characters is not one in tokens.
func TestCase12(t *testing.T) {
	refusal{413, "{\"error\":\"`inputs` must have less than 32000 characters. Given: 67337\",\"error_type\":\"Validation\"}", record.TooLong, record.LimitCharacters}.check(t, "TEI")
}

// Fewer vectors than inputs are no success, and only those that came are counted.
func TestCase14(t *testing.T) {
	c := client(t, plan.OpenAIEmbeddings, "http://127.0.0.1:1")
	a := c.Read(Reply{Status: 200, Body: []byte(`{"data":[{"index":0,"embedding":[0.1,0.2]}],"usage":{"prompt_tokens":40}}`)}, Want{Inputs: 5, InputTokens: 40})
	if a.Outcome != record.BadResponse || a.InputsDone != 1 || !strings.Contains(a.Error, "1 vectors for 5 inputs") {
		t.Errorf("%+v", a)
	}
}

// An input over what one forward takes fails as it is, alone too: it is a limit,
// though the server calls it an error of its own.
func TestCase17(t *testing.T) {
	refusal{500, `{"error":{"code":500,"message":"input (992 tokens) is too large to process. increase the physical batch size (current batch size: 512)","type":"server_error"}}`, record.TooLong, record.LimitPhysical}.check(t, "llama.cpp")
}

// What a model's context can't hold is too long, in every server's words.
func TestCase19(t *testing.T) {
	for name, f := range map[string]refusal{
		"vLLM":           {400, `{"error":{"message":"This model's maximum context length is 512 tokens. However, your prompt contains at least 513 input tokens","type":"BadRequestError","code":400}}`, record.TooLong, record.LimitTokens},
		"vLLM, output":   {400, `{"error":{"message":"max_tokens=100000 cannot be greater than max_model_len=512","code":400}}`, record.TooLong, record.LimitTokens},
		"llama.cpp":      {400, `{"error":{"code":400,"message":"request (6031 tokens) exceeds the available context size (512 tokens), try increasing it","type":"exceed_context_size_error"}}`, record.TooLong, record.LimitTokens},
		"SGLang":         {400, `{"object":"error","message":"The input (9000 tokens) is longer than the model's context length (4096 tokens).","code":400}`, record.TooLong, record.LimitTokens},
		"OpenAI":         {400, `{"error":{"message":"This model's maximum context length is 8192 tokens, however you requested 9000 tokens","type":"invalid_request_error","code":"context_length_exceeded"}}`, record.TooLong, record.LimitTokens},
		"slots together": {200, `{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`, record.TooLong, record.LimitSlots},
	} {
		f.check(t, name)
	}
}

// HTTP/2 would be capped at the server's number of streams without a word: it is
// not spoken, and what was spoken is known.
func TestCase70(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"data":[{"embedding":[1]}]}`)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	c := client(t, plan.OpenAIEmbeddings, s.URL)
	c.http.Transport.(*http.Transport).TLSClientConfig = &tls.Config{RootCAs: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, MinVersion: tls.VersionTLS12}
	if r := c.Send(t.Context(), []byte("{}"), maxPage, false); r.Protocol != "HTTP/1.1" {
		t.Errorf("%s: %v", r.Protocol, r.Err)
	}
}

// An address in brackets is joined as it should be, and a proxy is used where the
// spec has one and nowhere else.
func TestCase71(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	for _, base := range []string{"http://[::1]:8000", "http://[::1]:8000/", "http://[::1]:8000/v1", "http://[::1]:8000/v1/"} {
		if got := client(t, plan.OpenAIEmbeddings, base).path("/v1/models"); got != "http://[::1]:8000/v1/models" {
			t.Errorf("%s: %s", base, got)
		}
	}
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked = append(asked, r.URL.String()) }))
	defer proxy.Close()
	direct := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer direct.Close()
	if r := client(t, plan.OpenAIEmbeddings, direct.URL).Send(t.Context(), []byte("{}"), maxPage, false); r.Status != http.StatusOK {
		t.Errorf("with a dead proxy in the environment: %v", r.Err)
	}
	c, err := New(plan.Target{API: plan.OpenAIEmbeddings, URL: "http://server.invalid:8000", Model: "m", Proxy: proxy.URL,
		Timeout: plan.Timeout{Connect: 1e9, Request: 2e9}}, nil, plan.Secrets{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if r := c.Send(t.Context(), []byte("{}"), maxPage, false); r.Status != http.StatusOK || len(asked) != 1 || asked[0] != "http://server.invalid:8000/v1/embeddings" {
		t.Errorf("by the declared proxy: %v, %q", r.Err, asked)
	}
}
