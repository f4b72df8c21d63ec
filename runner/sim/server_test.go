package sim

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rung/spec/plan"
)

// quick is a model that answers at once.
func quick() plan.Simulator {
	p := params()
	p.Overhead, p.Floor, p.PerToken, p.PerOutputToken = 0, 0, 0, 0
	return p
}

func start(t *testing.T, p plan.Simulator, log io.Writer) *Server {
	t.Helper()
	s, err := Start(t.Context(), "127.0.0.1:0", Config{Params: p, Model: "m", Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func ask(t *testing.T, method, url, body string) (int, string, http.Header) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b), resp.Header
}

func entries(t *testing.T, log *bytes.Buffer) []Entry {
	t.Helper()
	var out []Entry
	for dec := json.NewDecoder(log); ; {
		var e Entry
		err := dec.Decode(&e)
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e)
	}
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func TestLoopbackOnly(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", "192.0.2.1:80", ":0", "example.org:80", "127.0.0.1", "[::]:0"} {
		s, err := Start(t.Context(), addr, Config{})
		if err == nil {
			_ = s.Close()
			t.Errorf("%q was taken", addr)
		}
	}
}

// What the API takes, what it counts and what it refuses.
func TestEmbeddings(t *testing.T) {
	var log bytes.Buffer
	s := start(t, quick(), &log)
	for _, tt := range []struct {
		name, body     string
		status         int
		inputs, tokens int
		says           string
	}{
		{"ids", `{"model":"m","input":[[1,2,3],[4,5]]}`, 200, 2, 5, ""},
		{"one list of ids", `{"model":"m","input":[1,2,3]}`, 200, 1, 3, ""},
		{"texts", `{"model":"m","input":["a b","c  d e"]}`, 200, 2, 9, ""},
		{"one text", `{"model":"m","input":"a b"}`, 200, 1, 4, ""},
		{"wrong model", `{"model":"other","input":"a"}`, 404, 0, 0, "does not exist"},
		{"no input", `{"model":"m"}`, 400, 0, 0, "not empty"},
		{"empty list", `{"model":"m","input":[]}`, 400, 0, 0, "not empty"},
		{"empty ids", `{"model":"m","input":[[1],[]]}`, 400, 0, 0, "empty"},
		{"half an id", `{"model":"m","input":[1.5]}`, 400, 0, 0, "input must be"},
		{"no JSON", `{`, 400, 0, 0, "no JSON"},
		{"too long", `{"model":"m","input":"` + strings.Repeat("a ", 8191) + `"}`, 400, 0, 0, "maximum context length is 8192"},
		{"out of memory", `{"model":"m","input":"` + strings.Repeat("a ", 4999) + `"}`, 500, 1, 5001, "CUDA out of memory"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			status, body, header := ask(t, "POST", s.URL()+"/v1/embeddings", tt.body)
			if status != tt.status || !strings.Contains(body, tt.says) || !strings.Contains(header.Get("Server"), "simulated") {
				t.Fatalf("status %d, %s, %v", status, body, header)
			}
			log := entries(t, &log)
			if len(log) != 1 {
				t.Fatalf("log: %v", log)
			}
			if e := log[0]; e.ReceivedS <= 0 || e.DoneS < e.ReceivedS || (e.Status == 200) != (e.SentS >= e.ReceivedS) {
				t.Errorf("times of %+v", e)
			}
			want := Entry{Server: "simulated", Request: log[0].Request, ReceivedS: log[0].ReceivedS, SentS: log[0].SentS, DoneS: log[0].DoneS, Path: "/v1/embeddings", BodySHA256: hash(tt.body), Inputs: tt.inputs, InputTokens: tt.tokens, Status: tt.status, Error: log[0].Error}
			if d := cmp.Diff(want, log[0]); d != "" || (status != 200) != (log[0].Error != "") {
				t.Error(d, log[0].Error)
			}
			if status != 200 {
				return
			}
			var page struct {
				Data []struct {
					Index     int
					Embedding []float64
				}
				Usage map[string]int
			}
			if err := json.Unmarshal([]byte(body), &page); err != nil || len(page.Data) != tt.inputs || page.Usage["prompt_tokens"] != tt.tokens {
				t.Fatalf("%v, %s", err, body)
			}
			for i, d := range page.Data {
				if d.Index != i || len(d.Embedding) != dimensions || d.Embedding[0] == 0 {
					t.Errorf("vector %d: %v", i, d)
				}
			}
		})
	}
}

func TestChat(t *testing.T) {
	var log bytes.Buffer
	s := start(t, quick(), &log)
	for _, tt := range []struct {
		body   string
		status int
		says   string
	}{
		{`{"model":"m","messages":[{"role":"user","content":"a b c"}],"max_tokens":5}`, 200, `"prompt_tokens":9`}, // 2 + 4 + 3
		{`{"model":"m","messages":[{"role":"user","content":"a"}],"max_tokens":5}`, 200, `"completion_tokens":5`},
		{`{"model":"m","messages":[{"role":"user","content":"a"}]}`, 400, "max_tokens"},
		{`{"model":"m","messages":[{"role":"user","content":"a"}],"max_tokens":8190}`, 400, "maximum context length"},
		{`{"model":"x","messages":[{"role":"user","content":"a"}],"max_tokens":5}`, 404, "does not exist"},
	} {
		if status, body, _ := ask(t, "POST", s.URL()+"/v1/chat/completions", tt.body); status != tt.status || !strings.Contains(body, tt.says) {
			t.Errorf("%s: status %d, %s", tt.body, status, body)
		}
	}
	log0 := entries(t, &log)[0]
	if log0.InputTokens != 9 || log0.OutputTokens != 5 || log0.Inputs != 1 {
		t.Errorf("%+v", log0)
	}
}

func TestTokenise(t *testing.T) {
	s := start(t, quick(), nil)
	tokens := func(body string) (out struct {
		Count  int
		Tokens []int
	}) {
		t.Helper()
		_, page, _ := ask(t, "POST", s.URL()+"/tokenize", body)
		if err := json.Unmarshal([]byte(page), &out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	with, bare := tokens(`{"model":"m","prompt":"to be or to be","add_special_tokens":true}`), tokens(`{"model":"m","prompt":"to be or to be","add_special_tokens":false}`)
	if len(bare.Tokens) != 5 || bare.Count != 5 || with.Count != 7 || !slices.Equal(with.Tokens[1:6], bare.Tokens) {
		t.Errorf("%v, %v", with, bare)
	}
	if bare.Tokens[0] != bare.Tokens[3] || bare.Tokens[0] == bare.Tokens[1] || slices.Min(bare.Tokens) < 1000 || slices.Max(bare.Tokens) >= vocabulary {
		t.Errorf("ids: %v", bare.Tokens)
	}
	if other := tokens(`{"prompt":"to be or to be"}`); !slices.Equal(other.Tokens, with.Tokens) {
		t.Errorf("special tokens are on unless it says otherwise: %v", other)
	}
	if chat := tokens(`{"messages":[{"role":"user","content":"a b c"}]}`); chat.Count != 9 {
		t.Errorf("chat: %v", chat)
	}
	if foreign := tokens(`{"content":"a b c"}`); len(foreign.Tokens) != 0 {
		t.Errorf("another server's form: %v", foreign)
	}
	if status, _, _ := ask(t, "POST", s.URL()+"/tokenize", "{"); status != 400 {
		t.Errorf("no JSON: status %d", status)
	}
}

func TestModels(t *testing.T) {
	s := start(t, quick(), nil)
	_, body, _ := ask(t, "GET", s.URL()+"/v1/models", "")
	for _, want := range []string{`"id":"m"`, `"owned_by":"simulated"`, `"max_model_len":8192`} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
	if status, body, _ := ask(t, "GET", s.URL()+"/health", ""); status != 200 || !strings.Contains(body, "simulated") {
		t.Errorf("health: %d, %s", status, body)
	}
	if status, _, _ := ask(t, "GET", s.URL()+"/nothing", ""); status != 404 {
		t.Errorf("an unknown path: %d", status)
	}
	if d := s.Card().Devices()[0]; !strings.Contains(d.Name, "simulated") || !strings.Contains(d.UUID, "simulated") {
		t.Errorf("%+v", d)
	}
}

// Closing gives what is under way no answer, waits for it and leaves a whole log.
func TestCloseUnderLoad(t *testing.T) {
	var log bytes.Buffer
	p := params()
	p.Overhead, p.MaxBatch = plan.Duration(time.Hour), 64
	s, err := Start(t.Context(), "127.0.0.1:0", Config{Params: p, Model: "m", Log: &log})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			req, _ := http.NewRequestWithContext(t.Context(), "POST", s.URL()+"/v1/embeddings", strings.NewReader(fmt.Sprintf(`{"model":"m","input":[%d]}`, i+1)))
			resp, err := http.DefaultClient.Do(req)
			if err == nil {
				resp.Body.Close()
				t.Errorf("an answer of a server that closed: %d", resp.StatusCode)
			}
		})
	}
	for end := time.Now().Add(20 * time.Second); s.busyNow() < 4; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Error("the work never came to the engine")
			break
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	got := entries(t, &log) // not raced: Close has waited for who writes it
	if len(got) != 4 || got[0].Status != statusClientGone {
		t.Errorf("%+v", got)
	}
}

// busyNow is what runs and what waits.
func (s *Server) busyNow() int {
	c := s.now.engine.counts.now()
	return c.running + c.waiting
}

// The context's end is the server's.
func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, err := Start(ctx, "127.0.0.1:0", Config{Params: quick(), Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	s.now.wait() // the forward loop and the listener
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
