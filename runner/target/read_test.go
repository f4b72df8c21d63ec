package target

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rung/sinks/record"
	"rung/spec/plan"
)

func client(t *testing.T, api plan.API, url string) *Client {
	t.Helper()
	c, err := New(plan.Target{API: api, URL: url, Model: "m", Timeout: plan.Timeout{Connect: plan.Duration(time.Second), Request: plan.Duration(2 * time.Second)}}, nil, plan.Secrets{}, 4)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// What real servers answered when they were asked for what they don't do.
func TestReadCaptures(t *testing.T) {
	want := map[string]record.Outcome{
		"infinity/err_bad_json.json":                     record.ClientError,
		"infinity/err_int_input.json":                    record.ClientError,
		"llamacpp-embed/err_bad_json.json":               record.ClientError,
		"llamacpp-embed/err_empty_list.json":             record.ClientError,
		"llamacpp-embed/err_too_long.json":               record.TooLong, // behind a 500
		"llamacpp/err_too_long_chat.json":                record.TooLong,
		"llamacpp/err_neg_max_tokens.json":               record.ClientError,
		"tei/err_batch_33.json":                          record.TooLong,
		"tei/err_batch_33_openai.json":                   record.TooLong,
		"tei/err_body_3MB.json":                          record.TooLong, // plain text
		"tei/err_empty_list.json":                        record.ClientError,
		"tei/err_too_long_auto_truncate_off.json":        record.TooLong,
		"tei/err_too_long_auto_truncate_off_openai.json": record.TooLong,
		"tei/err_no_content_type.json":                   record.ClientError,
		"vllm-chat/err_bad_model.json":                   record.ClientError,
		"vllm-chat/err_max_tokens_over_ctx.json":         record.TooLong,
		"vllm-chat/err_too_long_chat.json":               record.TooLong,
		"vllm-embed/err_batch_3000.json":                 record.Unavailable,
		"vllm-embed/err_just_too_long.json":              record.TooLong,
		"vllm-embed/err_empty_list.json":                 record.ClientError,
	}
	c := client(t, plan.OpenAIEmbeddings, "http://127.0.0.1:1")
	for name, outcome := range want {
		t.Run(name, func(t *testing.T) {
			r := capture(t, name)
			if got := c.Read(r, Want{Inputs: 1}); got.Outcome != outcome {
				t.Errorf("outcome %s, want %s: %s", got.Outcome, outcome, r.Body)
			}
		})
	}
}

func capture(t *testing.T, name string) Reply {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata/captures", name))
	if err != nil {
		t.Fatal(err)
	}
	var in struct {
		Status int             `json:"status"`
		Body   json.RawMessage `json:"body"`
		Text   string          `json:"body_text"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		t.Fatal(err)
	}
	body := []byte(in.Body)
	if in.Text != "" {
		body = []byte(in.Text)
	}
	return Reply{Status: in.Status, Body: body, Header: http.Header{}}
}

func TestReadChatCaptures(t *testing.T) {
	c := client(t, plan.OpenAIChat, "http://127.0.0.1:1")
	for _, name := range []string{"llamacpp/chat.json", "vllm-chat/chat.json"} {
		a := c.Read(capture(t, name), Want{Inputs: 1, InputTokens: 33})
		if a.Outcome != record.OK || a.InputTokens == nil || *a.InputTokens != 33 || a.OutputTokens == nil || *a.OutputTokens != 8 {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// A 200 is not yet a success.
func TestReadEmbeddings(t *testing.T) {
	ok := `{"data":[{"index":0,"embedding":[0.1,-2e-3]},{"index":1,"embedding":[1,0]}],"usage":{"prompt_tokens":8}}`
	for _, tt := range []struct {
		name, body string
		want       record.Outcome
	}{
		{"two vectors", ok, record.OK},
		{"tokens off the plan", strings.Replace(ok, "8", "9", 1), record.TokenMismatch},
		{"no usage", strings.Replace(ok, `,"usage":{"prompt_tokens":8}`, "", 1), record.OK},
		{"one vector for two inputs", `{"data":[{"index":0,"embedding":[1,2]}]}`, record.BadResponse},
		{"three vectors for two inputs", `{"data":[{"embedding":[1]},{"embedding":[1]},{"embedding":[1]}]}`, record.BadResponse},
		{"the same index twice", `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`, record.BadResponse},
		{"unequal dimensions", `{"data":[{"embedding":[1,2]},{"embedding":[1]}]}`, record.BadResponse},
		{"all zero", `{"data":[{"embedding":[1,2]},{"embedding":[0,-0.0]}]}`, record.BadResponse},
		{"zero with an exponent", `{"data":[{"embedding":[1]},{"embedding":[0e5]}]}`, record.BadResponse},
		{"empty vector", `{"data":[{"embedding":[]},{"embedding":[]}]}`, record.BadResponse},
		{"null in a vector", `{"data":[{"embedding":[1]},{"embedding":[null]}]}`, record.BadResponse},
		{"not finite", `{"data":[{"embedding":[1]},{"embedding":[1e999]}]}`, record.BadResponse},
		{"NaN is no JSON", `{"data":[{"embedding":[NaN]}]}`, record.BadResponse},
		{"nested", `{"data":[{"embedding":[[1]]},{"embedding":[[1]]}]}`, record.BadResponse},
		{"out of memory behind a 200", `{"error":{"message":"CUDA out of memory","code":500}}`, record.OOM},
		{"error behind a 200", `{"error":"boom"}`, record.BadResponse},
		{"null error", `{"error":null,` + ok[1:], record.OK},
		{"cut short", ok[:40], record.BadResponse},
		{"empty", "", record.BadResponse},
		{"html", "<html>", record.BadResponse},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := client(t, plan.OpenAIEmbeddings, "http://127.0.0.1:1")
			a := c.Read(Reply{Status: 200, Body: []byte(tt.body)}, Want{Inputs: 2, InputTokens: 8})
			if a.Outcome != tt.want {
				t.Errorf("%s (%s), want %s", a.Outcome, a.Error, tt.want)
			}
			if tt.name == "no usage" && a.InputTokens != nil {
				t.Errorf("tokens filled in: %d", *a.InputTokens)
			}
		})
	}
}

func TestReadChat(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		want       record.Outcome
	}{
		{"whole", `{"choices":[{"finish_reason":"stop","message":{"content":"x"}}],"usage":{"prompt_tokens":4,"completion_tokens":2}}`, record.OK},
		{"no finish_reason", `{"choices":[{"finish_reason":null,"message":{"content":"x"}}]}`, record.BadResponse},
		{"no choice", `{"choices":[],"usage":{"prompt_tokens":4}}`, record.BadResponse},
		{"no message", `{"choices":[{"finish_reason":"stop"}]}`, record.BadResponse},
		{"empty message", `{"choices":[{"finish_reason":"stop","message":{}}]}`, record.BadResponse},
		{"null content", `{"choices":[{"finish_reason":"stop","message":{"content":null}}]}`, record.BadResponse},
		{"reasoning alone", `{"choices":[{"finish_reason":"length","message":{"content":null,"reasoning_content":"hm"}}]}`, record.OK},
		{"ended by an error", `{"choices":[{"finish_reason":"error","message":{"content":"x"}}]}`, record.BadResponse},
		{"less than nothing", `{"choices":[{"finish_reason":"stop","message":{"content":"x"}}],"usage":{"prompt_tokens":4,"completion_tokens":-5}}`, record.BadResponse},
		{"more than was asked", `{"choices":[{"finish_reason":"stop","message":{"content":"x"}}],"usage":{"prompt_tokens":4,"completion_tokens":9}}`, record.BadResponse},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := client(t, plan.OpenAIChat, "http://127.0.0.1:1")
			if a := c.Read(Reply{Status: 200, Body: []byte(tt.body)}, Want{Inputs: 1, InputTokens: 4, OutputTokens: 8}); a.Outcome != tt.want || a.OutputTokens != nil && (*a.OutputTokens < 0 || *a.OutputTokens > 8) {
				t.Errorf("%s (%s), want %s", a.Outcome, a.Error, tt.want)
			}
		})
	}
}

// A prompt that a 4xx echoes must not be read as the server's trouble.
func TestReadEcho(t *testing.T) {
	c := client(t, plan.OpenAIEmbeddings, "http://127.0.0.1:1")
	a := c.Read(Reply{Status: 422, Body: []byte(`{"detail":[{"input":"a tale of CUDA out of memory"}]}`)}, Want{Inputs: 1})
	if a.Outcome != record.ClientError {
		t.Errorf("outcome %s", a.Outcome)
	}
}

func TestReadStatus(t *testing.T) {
	for _, tt := range []struct {
		status int
		body   string
		want   record.Outcome
	}{
		{500, `{"error":{"message":"CUDA out of memory. Tried to allocate 2 GiB"}}`, record.OOM},
		{424, `{"error":"CUDA_ERROR_OUT_OF_MEMORY","error_type":"Backend"}`, record.OOM},
		{424, `{"error":"model is not a re-ranker"}`, record.ServerError},
		{500, "CUDA error: an illegal memory access was encountered", record.CUDAError},
		{500, "EngineCore encountered an issue", record.ServerError},
		{429, `{"error":"Model is overloaded","error_type":"Overloaded"}`, record.Overloaded},
		{429, `{"error":"rate limit"}`, record.RateLimited},
		{503, "busy", record.Unavailable},
		{413, "", record.TooLong},
		{404, "", record.ClientError},
		{302, "", record.ClientError},
		{204, "", record.BadResponse},
	} {
		if got := classifyStatus(tt.status, []byte(tt.body)); got != tt.want {
			t.Errorf("%d %q: %s, want %s", tt.status, tt.body, got, tt.want)
		}
	}
}

func TestClassifyError(t *testing.T) {
	for _, tt := range []struct {
		err   error
		stage record.Stage
		want  record.Outcome
	}{
		{context.DeadlineExceeded, record.StageFirstByte, record.Timeout},
		{context.Canceled, record.StageFirstByte, record.Cancelled},
		{fmt.Errorf("dial: %w", syscall.ECONNREFUSED), record.StageConnect, record.Refused},
		{fmt.Errorf("dial: %w", syscall.EMFILE), record.StageConnect, record.ClientLimited},
		{fmt.Errorf("dial: %w", syscall.EADDRNOTAVAIL), record.StageConnect, record.ClientLimited},
		{&net.DNSError{Err: "no such host"}, record.StageConnect, record.Refused},
		{&net.OpError{Op: "dial", Err: timeoutError{}}, record.StageConnect, record.Timeout},
		{io.EOF, record.StageFirstByte, record.Reset},
		{errors.New("http: server closed idle connection"), record.StageFirstByte, record.Reset},
		{io.ErrUnexpectedEOF, record.StageBetween, record.Reset},
		{fmt.Errorf("read: %w", syscall.ECONNRESET), record.StageBetween, record.Reset},
		{errTooLarge, record.StageBetween, record.BadResponse},
		{errors.New("malformed HTTP response"), record.StageFirstByte, record.BadResponse},
	} {
		if got := classifyError(Reply{Err: tt.err, Stage: tt.stage}); got != tt.want {
			t.Errorf("%v at %s: %s, want %s", tt.err, tt.stage, got, tt.want)
		}
	}
}

type timeoutError struct{}

func (timeoutError) Error() string   { return "i/o timeout" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	for value, want := range map[string]float64{"2": 2, "0.5": 0.5, "Mon, 30 Nov 2026 08:00:07 GMT": 7} {
		got := retryAfter(http.Header{"Retry-After": {value}}, now)
		if got == nil || *got != want {
			t.Errorf("%q: %v, want %g", value, got, want)
		}
	}
	if got := retryAfter(http.Header{"Retry-After": {"soon"}}, now); got != nil {
		t.Errorf("%g", *got)
	}
}

func TestExcerpt(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"plain", "plain"},
		{"a\nb\x1b[31mc\x00", "a b[31mc"},
		{"bad \xff utf", "bad \uFFFD utf"},
		{"left\u202eright", "leftright"},
		{"äöüäöü", "äöü"}, // cut at 7 bytes, not within a letter
	} {
		if got := Excerpt([]byte(tt.in), max(len(tt.in)-5, 7)); tt.in == "äöüäöü" && got != tt.want {
			t.Errorf("%q: %q", tt.in, got)
		}
		if got := Excerpt([]byte(tt.in), 100); tt.in != "äöüäöü" && got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(200, `{"data":[{"index":0,"embedding":[0.1,-2e-3]}],"usage":{"prompt_tokens":8}}`)
	f.Add(200, `{"choices":[{"finish_reason":"stop","message":{"content":"x"}}]}`)
	f.Add(500, "CUDA out of memory")
	embed, _ := New(plan.Target{API: plan.OpenAIEmbeddings, URL: "http://127.0.0.1:1"}, nil, plan.Secrets{}, 1)
	chat, _ := New(plan.Target{API: plan.OpenAIChat, URL: "http://127.0.0.1:1"}, nil, plan.Secrets{}, 1)
	f.Fuzz(func(t *testing.T, status int, body string) {
		for _, c := range []*Client{embed, chat} {
			a := c.Read(Reply{Status: status, Body: []byte(body)}, Want{Inputs: 1, InputTokens: 8})
			if a.Outcome == record.OK && (status != 200 || a.InputsDone != 1) {
				t.Errorf("a success out of %d %q: %+v", status, body, a)
			}
			if len(a.Error) > errorBytes {
				t.Errorf("%d bytes of error", len(a.Error))
			}
		}
	})
}
