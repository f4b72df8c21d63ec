package target

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rung/sinks/record"
	"rung/spec/plan"
)

// piece is a part of a streamed body and when it came, in milliseconds.
type piece struct {
	ms   int
	text string
}

// streamed is a reply that came in pieces.
func streamed(pieces ...piece) Reply {
	begin := time.Unix(1_000, 0)
	r := Reply{Status: 200, Header: http.Header{}, Sent: begin, Arrivals: []Arrival{}}
	for _, p := range pieces {
		r.Body = append(r.Body, p.text...)
		r.Done = begin.Add(time.Duration(p.ms) * time.Millisecond)
		r.Arrivals = append(r.Arrivals, Arrival{len(r.Body), r.Done})
	}
	return r
}

func content(text string) string {
	return fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q},\"finish_reason\":null}]}\n\n", text)
}

const (
	finish = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"length\"}]}\n\n"
	done   = "data: [DONE]\n\n"
)

func usageChunk(out int) string {
	return fmt.Sprintf("data: {\"choices\":[],\"usage\":{\"prompt_tokens\":8,\"completion_tokens\":%d}}\n\n", out)
}

// after is when the first token came, in milliseconds from the send; -1 for never.
func after(r Reply, a Answer) int64 {
	if a.FirstToken.IsZero() {
		return -1
	}
	return a.FirstToken.Sub(r.Sent).Milliseconds()
}

func chat(t *testing.T) *Client { return client(t, plan.OpenAIChat, "http://127.0.0.1:1") }

// A stream that fails behind its headers is no success, and nothing of what was
// asked is taken for what came.
func TestCase01(t *testing.T) {
	for _, frame := range []string{
		"data: {\"error\":{\"message\":\"CUDA out of memory\",\"code\":500}}\n\n",
		"event: error\ndata: {\"message\":\"CUDA out of memory\"}\n\n",
		"event: error\ndata: CUDA out of memory\n\n",
		"{\"error\":{\"message\":\"CUDA out of memory\"}}\n",
	} {
		r := streamed(piece{1, frame}, piece{2, done})
		a := chat(t).Read(r, Want{Inputs: 1, InputTokens: 8, OutputTokens: 128})
		if a.Outcome != record.OOM || after(r, a) != -1 || a.OutputTokens != nil || a.InputTokens != nil || a.Chunks != nil || a.InputsDone != 0 || !strings.Contains(a.Error, "out of memory") {
			t.Errorf("%q: %+v", frame, a)
		}
		r = streamed(piece{5, content("a")}, piece{8, content("b")}, piece{9, frame}, piece{9, done})
		a = chat(t).Read(r, Want{Inputs: 1, OutputTokens: 128})
		if a.Outcome != record.OOM || a.OutputTokens != nil || *a.Chunks != 2 || after(r, a) != 5 {
			t.Errorf("after two chunks %q: %+v", frame, a)
		}
	}
}

// A stream that ends without a word of why was cut short.
func TestCase03(t *testing.T) {
	var body []piece
	for i := range 5 {
		body = append(body, piece{10 * (i + 1), content("x")})
	}
	for name, tail := range map[string]string{"a clean end": "", "[DONE] alone": done, "half a chunk": "data: {\"choices\":[{\"del"} {
		r := streamed(append(body, piece{60, tail})...)
		a := chat(t).Read(r, Want{Inputs: 1, OutputTokens: 128})
		if a.Outcome != record.BadResponse || *a.Chunks != 5 || after(r, a) != 10 || r.Done.Sub(r.Sent) != 60*time.Millisecond {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// A server that takes everything and gives nothing hangs, whatever its health says.
func TestCase05(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			return // health is fine
		}
		w.WriteHeader(http.StatusOK)
		if r.URL.Path == "/begun/v1/chat/completions" {
			fmt.Fprint(w, content("x"))
		}
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer s.Close()
	for path, want := range map[string]struct {
		stage record.Stage
		words string
	}{"": {record.StageFirstByte, "no byte of the answer"}, "/begun": {record.StageBetween, "then no byte came"}} {
		c := client(t, plan.OpenAIChat, s.URL+path)
		c.timeout = plan.Timeout{Request: plan.Duration(time.Minute), FirstByte: plan.Duration(50 * time.Millisecond), BetweenBytes: plan.Duration(60 * time.Millisecond)}
		if err := c.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
		r := c.Send(t.Context(), []byte("{}"), maxPage, true)
		if a := c.Read(r, Want{Inputs: 1}); a.Outcome != record.Timeout || r.Stage != want.stage || !strings.Contains(a.Error, want.words) {
			t.Errorf("%q: %s at %s: %s", path, a.Outcome, r.Stage, a.Error)
		}
	}
}

// A length that a stream's usage gives is read wherever it stands, and the last one
// is taken.
func TestCase23(t *testing.T) {
	for name, tail := range map[string]string{
		"a chunk without choices": finish + usageChunk(2),
		"the last choice":         "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":8,\"completion_tokens\":2}}\n\n",
		"each chunk":              usageChunk(1) + finish + usageChunk(2),
		"choices that are null":   finish + "data: {\"choices\":null,\"usage\":{\"prompt_tokens\":8,\"completion_tokens\":2}}\n\n",
	} {
		a := chat(t).Read(streamed(piece{1, content("a")}, piece{2, content("b") + tail + done}), Want{Inputs: 1, InputTokens: 8, OutputTokens: 4})
		if a.Outcome != record.OK || *a.InputTokens != 8 || *a.OutputTokens != 2 || a.UsageSource != record.BodyUsage {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// Usage is asked of each stream, and never of what is none.
func TestCase21(t *testing.T) {
	for _, stream := range []bool{true, false} {
		b, err := chat(t).Chat("hi", Options{OutputTokens: 4, Stream: stream})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(string(b), `"stream_options":{"include_usage":true}`); got != stream {
			t.Errorf("stream %t: %s", stream, b)
		}
	}
}

// A stream without usage has no token counts: none is filled in from what was asked
// or from the chunks.
func TestCase22(t *testing.T) {
	a := chat(t).Read(streamed(piece{1, content("a")}, piece{2, content("b") + finish + done}), Want{Inputs: 1, InputTokens: 8, OutputTokens: 2})
	if a.Outcome != record.OK || a.InputTokens != nil || a.OutputTokens != nil || a.UsageSource != record.NoUsage || *a.Chunks != 2 {
		t.Errorf("%+v", a)
	}
}

// A usage of more tokens than were asked can't be: it is no success.
func TestCase25(t *testing.T) {
	var body []piece
	for i := range 9 {
		body = append(body, piece{i, content("x")})
	}
	a := chat(t).Read(streamed(append(body, piece{10, finish + usageChunk(12) + done})...), Want{Inputs: 1, InputTokens: 8, OutputTokens: 9})
	if a.Outcome != record.BadResponse || a.OutputTokens != nil || *a.Chunks != 9 || !strings.Contains(a.Error, "12 output tokens, asked were at most 9") {
		t.Errorf("%+v", a)
	}
}

// The first token is the first that was generated, in any channel: no role, no
// empty content, no null.
func TestCase31(t *testing.T) {
	role := "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\n\n"
	empty := "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"
	for name, first := range map[string]string{
		"content":   content("a"),
		"reasoning": "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n",
		"a call":    "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"f\"}}]}}]}\n\n",
		"text":      "data: {\"choices\":[{\"text\":\"a\"}]}\n\n",
	} {
		r := streamed(piece{5, role}, piece{7, empty}, piece{9, ": ping\n\n"}, piece{200, first}, piece{230, content("b")}, piece{240, finish + done})
		a := chat(t).Read(r, Want{Inputs: 1, OutputTokens: 4})
		if a.Outcome != record.OK || after(r, a) != 200 || *a.Chunks != 2 || !cmp.Equal(a.GapsS, []float64{0.03}) {
			t.Errorf("%s: first token after %d ms: %+v", name, after(r, a), a)
		}
	}
}

// A chunk is not a token: the time per token goes by the server's count, and the
// gaps between chunks are their own figure.
func TestCase33(t *testing.T) {
	r := streamed(piece{100, content("one two three")}, piece{200, content("four five six")}, piece{450, content("seven eight") + finish + usageChunk(8) + done})
	a := chat(t).Read(r, Want{Inputs: 1, InputTokens: 8, OutputTokens: 8})
	first := 0.1
	row := record.Request{Outcome: a.Outcome, DoneTS: 0.45, FirstTokenTS: &first, OutputTokens: a.OutputTokens}
	if got := row.TPOTS(); math.Abs(got-0.35/7) > 1e-12 || !cmp.Equal(a.GapsS, []float64{0.1, 0.25}) || *a.Chunks != 3 {
		t.Errorf("TPOT %g: %+v", got, a)
	}
}

// Lines of any length are read whole, whatever ends them, with comments and data on
// several lines; the body as a whole is bounded.
func TestCase69(t *testing.T) {
	long := strings.Repeat("y", 300<<10)
	body := strings.ReplaceAll(": ping\n\n"+content(long)+"event: message\ndata: {\"choices\":[{\"delta\":\ndata: {\"content\":\"b\"}}]}\n\n: ping\n"+finish+done, "\n", "\r\n")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) }))
	defer s.Close()
	c := client(t, plan.OpenAIChat, s.URL)
	r := c.Send(t.Context(), []byte("{}"), maxPage, true)
	if a := c.Read(r, Want{Inputs: 1, OutputTokens: 4}); a.Outcome != record.OK || *a.Chunks != 2 || a.FinishReason != "length" || len(r.Body) != len(body) {
		t.Errorf("%+v", a)
	}
	r = c.Send(t.Context(), []byte("{}"), 64<<10, true)
	if a := c.Read(r, Want{Inputs: 1}); a.Outcome != record.BadResponse || !strings.Contains(a.Error, "larger than rung reads") || len(r.Body) > 64<<10+readChunk {
		t.Errorf("%d bytes: %+v", len(r.Body), a)
	}
}

// What real servers streamed.
func TestStreamCaptures(t *testing.T) {
	for name, want := range map[string]struct {
		api    plan.API
		in     *int
		out    *int
		finish string
	}{
		"vllm-chat/chat_stream.json":                  {plan.OpenAIChat, nil, nil, "length"},
		"vllm-chat/chat_stream_usage.json":            {plan.OpenAIChat, new(33), new(8), "length"},
		"vllm-chat/chat_stream_continuous_usage.json": {plan.OpenAIChat, new(31), new(3), "length"},
		"vllm-chat/completion_stream.json":            {plan.OpenAICompletions, new(2), new(8), "length"},
		"llamacpp/chat_stream.json":                   {plan.OpenAIChat, nil, nil, "length"},
		"llamacpp/chat_stream_usage.json":             {plan.OpenAIChat, new(33), new(8), "length"},
		"llamacpp/completion_stream.json":             {plan.OpenAICompletions, new(2), new(8), "length"},
	} {
		a := client(t, want.api, "http://127.0.0.1:1").Read(captureStream(t, name), Want{Inputs: 1, OutputTokens: 8})
		if a.Outcome != record.OK || !cmp.Equal(a.InputTokens, want.in) || !cmp.Equal(a.OutputTokens, want.out) || a.FinishReason != want.finish || a.FirstToken.IsZero() {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

func captureStream(t *testing.T, name string) Reply {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata/captures", name))
	if err != nil {
		t.Fatal(err)
	}
	var in struct {
		First []string `json:"sse_raw_first"`
		Last  []string `json:"sse_raw_last"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		t.Fatal(err)
	}
	return streamed(piece{1, strings.Join(in.First, "\n") + "\n"}, piece{2, strings.Join(in.Last, "\n")})
}

// TEI answers with vectors alone, and says the rest in headers.
func TestReadTEI(t *testing.T) {
	c := client(t, plan.TEIEmbed, "http://127.0.0.1:1")
	h := http.Header{}
	for name, v := range map[string]string{"x-compute-tokens": "8", "x-total-time": "17", "x-tokenization-time": "1", "x-queue-time": "4", "x-inference-time": "12"} {
		h.Set(name, v)
	}
	a := c.Read(Reply{Status: 200, Header: h, Body: []byte(`[[0.1,0.2],[0.3,0.4]]`)}, Want{Inputs: 2, InputTokens: 8})
	want := Answer{Outcome: record.OK, InputsDone: 2, InputTokens: new(8), Dimensions: 2, UsageSource: record.HeaderUsage,
		Timings: Timings{new(0.017), new(0.001), new(0.004), new(0.012)}}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Error(diff)
	}
	for body, outcome := range map[string]record.Outcome{
		`[[0.1,0.2]]`:               record.BadResponse,
		`[[0.1,0.2],[0.1]]`:         record.BadResponse,
		`[[0.1,0.2],[0,0]]`:         record.BadResponse,
		`{"error":"out of memory"}`: record.OOM,
		`{"vectors":1}`:             record.BadResponse,
	} {
		if a := c.Read(Reply{Status: 200, Header: h, Body: []byte(body)}, Want{Inputs: 2}); a.Outcome != outcome {
			t.Errorf("%s: %s", body, a.Outcome)
		}
	}
	b, err := c.EmbedTexts([]string{"a"})
	if err != nil || string(b) != `{"inputs":["a"],"truncate":false}` {
		t.Errorf("%s, %v", b, err)
	}
}

// base64 vectors are read as what they are, and a length that is none is no vector.
func TestCase15(t *testing.T) {
	encode := func(b []byte) string { return base64.StdEncoding.EncodeToString(b) }
	vector := func(numbers ...float32) []byte {
		var b []byte
		for _, x := range numbers {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		return b
	}
	c := client(t, plan.OpenAIEmbeddings, "http://127.0.0.1:1")
	for name, tt := range map[string]struct {
		vectors []string
		want    record.Outcome
		words   string
	}{
		"two of three":      {[]string{encode(vector(1, 2, 3)), encode(vector(4, 5, 6))}, record.OK, ""},
		"unequal":           {[]string{encode(vector(1, 2, 3)), encode(vector(4, 5))}, record.BadResponse, "2 dimensions, those before it 3"},
		"no float32":        {[]string{encode(vector(1, 2, 3)), encode(vector(4, 5)[:7])}, record.BadResponse, "7 bytes"},
		"no base64":         {[]string{encode(vector(1)), "%%"}, record.BadResponse, "no base64"},
		"not finite":        {[]string{encode(vector(1)), encode(vector(float32(math.Inf(1))))}, record.BadResponse, "not finite"},
		"not a number":      {[]string{encode(vector(1)), encode(vector(float32(math.NaN())))}, record.BadResponse, "not finite"},
		"all zero":          {[]string{encode(vector(1, 1)), encode(vector(0, 0))}, record.BadResponse, "zero"},
		"empty":             {[]string{encode(vector(1)), ""}, record.BadResponse, "0 bytes"},
		"one for two asked": {[]string{encode(vector(1))}, record.BadResponse, "1 vectors for 2 inputs"},
	} {
		var data []string
		for _, v := range tt.vectors {
			data = append(data, fmt.Sprintf(`{"embedding":%q}`, v))
		}
		a := c.Read(Reply{Status: 200, Body: []byte(`{"data":[` + strings.Join(data, ",") + `]}`)}, Want{Inputs: 2})
		if a.Outcome != tt.want || !strings.Contains(a.Error, tt.words) {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// FuzzStream reads any bytes as a stream, cut into two arrivals anywhere: a success has a
// reason why it ended, its gaps are as many as its chunks but one, and nothing comes before
// it was sent or after it was done.
func FuzzStream(f *testing.F) {
	f.Add("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\"},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n", 40)
	f.Add("event: error\r\ndata: {\"error\":{\"message\":\"CUDA out of memory\"}}\r\n\r\n: ping\n", 3)
	f.Add("{\"error\":\"x\"}\ndata", 0)
	c, err := New(plan.Target{API: plan.OpenAIChat, URL: "http://127.0.0.1:1"}, nil, plan.Secrets{}, 1)
	if err != nil {
		f.Fatal(err)
	}
	sent := time.Unix(1000, 0)
	f.Fuzz(func(t *testing.T, body string, cut int) {
		cut = max(0, min(cut, len(body)))
		r := Reply{Status: 200, Sent: sent, Begun: sent, Done: sent.Add(3 * time.Second), Body: []byte(body),
			Arrivals: []Arrival{{cut, sent.Add(time.Second)}, {len(body), sent.Add(2 * time.Second)}}}
		a := c.Read(r, Want{Inputs: 1, InputTokens: 3, OutputTokens: 2})
		if a.Outcome == record.OK && a.FinishReason == "" {
			t.Errorf("a success without a reason of its end out of %q: %+v", body, a)
		}
		if a.Chunks != nil && *a.Chunks > 0 && len(a.GapsS) != *a.Chunks-1 {
			t.Errorf("%d chunks and %d gaps out of %q", *a.Chunks, len(a.GapsS), body)
		}
		if !a.FirstToken.IsZero() && (a.FirstToken.Before(sent) || a.FirstToken.After(r.Done)) {
			t.Errorf("a first token at %v out of %q", a.FirstToken, body)
		}
	})
}
