package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rung/sinks/record"
	"rung/spec/plan"
)

func TestPath(t *testing.T) {
	for base, want := range map[string]string{
		"http://h:1":            "http://h:1/v1/embeddings",
		"http://h:1/":           "http://h:1/v1/embeddings",
		"http://h:1/v1":         "http://h:1/v1/embeddings",
		"http://h:1/v1/":        "http://h:1/v1/embeddings",
		"http://[::1]:8/v1/":    "http://[::1]:8/v1/embeddings",
		"https://h/gateway/v1/": "https://h/gateway/v1/embeddings",
	} {
		if got := client(t, plan.OpenAIEmbeddings, base).path("/v1/embeddings"); got != want {
			t.Errorf("%s: %s, want %s", base, got, want)
		}
	}
}

func TestNewRefusesAddress(t *testing.T) {
	for _, url := range []string{"", "127.0.0.1:8000", "ftp://h", "http://"} {
		if _, err := New(plan.Target{URL: url}, nil, plan.Secrets{}, 1); err == nil || !strings.Contains(err.Error(), "target.url") {
			t.Errorf("%q: %v", url, err)
		}
	}
}

// What is sensitive is sent, and nowhere shown.
func TestSecrets(t *testing.T) {
	const key, path = "s3cret-key", "/s3cret-path"
	var got http.Header
	var body string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		b, _ := io.ReadAll(r.Body)
		body = string(b)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	url := plan.NewSecret(s.URL + path)
	c, err := New(plan.Target{API: plan.OpenAIEmbeddings, Model: "m", Headers: []plan.Header{{Name: "Authorization", Sensitive: true}}, Timeout: plan.Timeout{Request: plan.Duration(time.Second)}},
		nil, plan.Secrets{URL: &url, Headers: map[string]plan.Secret{"Authorization": plan.NewSecret("Bearer " + key)}, Body: map[string]plan.Secret{"user": plan.NewSecret(`"s3cret-user"`)}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.EmbedIDs([][]int{{1}})
	if err != nil {
		t.Fatal(err)
	}
	c.Send(t.Context(), b, maxPage, false)
	if got.Get("Authorization") != "Bearer "+key || !strings.Contains(body, `"user":"s3cret-user"`) {
		t.Errorf("not sent: %v %s", got, body)
	}
	_, err = c.Discover(t.Context())
	shown := fmt.Sprintf("%v %s %+v", err, c.Shown(), c.Read(c.Send(t.Context(), b, maxPage, false), Want{}))
	s.Close()
	_, err = c.Discover(t.Context())
	shown += fmt.Sprintf("%v %+v", err, c.Read(c.Send(t.Context(), b, maxPage, false), Want{}))
	if strings.Contains(shown, "s3cret") || strings.Contains(shown, s.URL) {
		t.Errorf("a secret shows: %s", shown)
	}
}

// Every answer is sent once: a connection that the server drops is a row, not a
// second try.
func TestNoHiddenRetry(t *testing.T) {
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 1 {
			fmt.Fprint(w, "{}")
			return
		}
		conn, _, _ := http.NewResponseController(w).Hijack()
		conn.Close()
	}))
	defer s.Close()
	c := client(t, plan.OpenAIEmbeddings, s.URL)
	c.Send(t.Context(), []byte("{}"), maxPage, false)
	r := c.Send(t.Context(), []byte("{}"), maxPage, false)
	if a := c.Read(r, Want{Inputs: 1}); a.Outcome != record.Reset || !r.Reused || r.Stage != record.StageFirstByte {
		t.Errorf("outcome %s, reused %t, stage %s", a.Outcome, r.Reused, r.Stage)
	}
	if got := n.Load(); got != 2 {
		t.Errorf("%d requests reached the server, 2 were sent", got)
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("followed") }))
	defer other.Close()
	s := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusFound))
	defer s.Close()
	c := client(t, plan.OpenAIEmbeddings, s.URL)
	if a := c.Read(c.Send(t.Context(), []byte("{}"), maxPage, false), Want{Inputs: 1}); a.Outcome != record.ClientError || !strings.Contains(a.Error, other.URL) {
		t.Errorf("outcome %s: %s", a.Outcome, a.Error)
	}
}

// A server can list thousands of models; the one asked for may be the last.
func TestDiscoverManyModels(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"data":[`)
		for i := range 10_000 {
			fmt.Fprintf(w, `{"id":"model-%d"},`, i)
		}
		fmt.Fprint(w, `{"id":"m"}]}`)
	}))
	defer s.Close()
	c := client(t, plan.OpenAIEmbeddings, s.URL)
	d, err := c.Discover(t.Context())
	if err != nil || len(d.Server.Models) != maxModels {
		t.Errorf("%d models, %v", len(d.Server.Models), err)
	}
	c.model = "other"
	if _, err := c.Discover(t.Context()); err == nil || len(err.Error()) > 400 || !strings.Contains(err.Error(), "and 9993 more") {
		t.Errorf("%v", err)
	}
}

// The stage says where a time ran out.
func TestTimeoutStages(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not see its client leave
		if r.URL.Path == "/body/v1/embeddings" {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "{")
			_ = http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
	}))
	defer s.Close()
	for path, stage := range map[string]record.Stage{"": record.StageTotal, "/body": record.StageTotal} {
		c := client(t, plan.OpenAIEmbeddings, s.URL+path)
		c.timeout.Request = plan.Duration(50 * time.Millisecond)
		r := c.Send(t.Context(), []byte("{}"), maxPage, false)
		if a := c.Read(r, Want{Inputs: 1}); a.Outcome != record.Timeout || r.Stage != stage {
			t.Errorf("%q: outcome %s, stage %s, want %s (%s)", path, a.Outcome, r.Stage, stage, a.Error)
		}
	}
}

func TestDiscover(t *testing.T) {
	var lc net.ListenConfig
	refused, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := "http://" + refused.Addr().String()
	refused.Close()
	answer := func(status int, body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/models" {
				http.NotFound(w, r)
				return
			}
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	for _, tt := range []struct{ name, url, want string }{
		{"unreachable", gone, "can't be reached"},
		{"refused key", answer(401, `{"error":"bad key"}`), "refused the key"},
		{"wrong model", answer(200, `{"data":[{"id":"a"},{"id":"b\u001b[31m"}]}`), `no model "m": it lists "a", "b[31m"`},
		{"no inference server", answer(200, "<html>hello"), "no inference server"},
		{"broken server", answer(500, "boom"), "status 500: boom"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := client(t, plan.OpenAIEmbeddings, tt.url).Discover(t.Context())
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if tt.name == "unreachable" && !errors.Is(err, ErrUnreachable) {
				t.Error("not ErrUnreachable")
			}
		})
	}
	d, err := client(t, plan.OpenAIEmbeddings, answer(404, "")).Discover(t.Context())
	if err != nil || d.ListsModel {
		t.Errorf("a server without a model list: %+v, %v", d, err)
	}
	d, err = client(t, plan.OpenAIEmbeddings, answer(200, `{"data":[{"id":"m","owned_by":"vllm","max_model_len":256,"meta":{"n_vocab":9}}]}`)).Discover(t.Context())
	if err != nil || d.Server.Software != "vllm" || d.Server.MaxModelLen == nil || *d.Server.MaxModelLen != 256 || d.Vocabulary != 9 {
		t.Errorf("%+v, %v", d, err)
	}
}

// llama.cpp answers 200 with no tokens to vLLM's form.
func TestFindDialect(t *testing.T) {
	for want, body := range map[Dialect]string{VLLM: `"prompt"`, LlamaCPP: `"content"`, NoDialect: "none"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			if strings.Contains(string(b), body) {
				fmt.Fprint(w, `{"tokens":[1,2]}`)
				return
			}
			fmt.Fprint(w, `{"tokens":[]}`)
		}))
		got, err := client(t, plan.OpenAIEmbeddings, s.URL).FindDialect(t.Context())
		s.Close()
		if err != nil || got != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
}

func TestCancelled(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // else the server does not see its client leave
		<-r.Context().Done()
	}))
	defer s.Close()
	c := client(t, plan.OpenAIEmbeddings, s.URL)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if a := c.Read(c.Send(ctx, []byte("{}"), maxPage, false), Want{Inputs: 1}); a.Outcome != record.Cancelled {
		t.Errorf("outcome %s", a.Outcome)
	}
}

func TestBodiesAreStable(t *testing.T) {
	c, err := New(plan.Target{API: plan.OpenAIChat, URL: "http://h", Model: "m"}, []byte(`{"zeta":1,"alpha":{"b":2,"a":[1]}}`), plan.Secrets{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"alpha":{"b":2,"a":[1]},"ignore_eos":true,"max_tokens":3,"messages":[{"content":"hi","role":"user"}],"min_tokens":3,"model":"m","stream":false,"temperature":0,"zeta":1}`
	for range 5 {
		b, err := c.Chat("hi", Options{OutputTokens: 3, Exact: true})
		if err != nil || string(b) != want {
			t.Fatalf("%s, %v", b, err)
		}
	}
}

// What a server echoes of the secrets that it was sent is in no text.
func TestServerEchoesSecrets(t *testing.T) {
	const key = "SEKRET-abc123"
	for name, handler := range map[string]http.HandlerFunc{
		"a refusal": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprintf(w, "%s boom auth=%s", strings.Repeat("x", errorBytes-30), r.Header.Get("Authorization"))
		},
		"a success that is none": func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `{"error":{"message":%q}}`, r.Header.Get("Authorization"))
		},
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/?k="+r.Header.Get("Authorization")[7:], http.StatusFound)
		},
		"no JSON": func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<html>", r.Header.Get("Authorization")) },
	} {
		s := httptest.NewServer(handler)
		c, err := New(plan.Target{API: plan.OpenAIEmbeddings, URL: s.URL, Model: "m", Headers: []plan.Header{{Name: "Authorization", Sensitive: true}},
			Timeout: plan.Timeout{Connect: 1e9, Request: 2e9}}, nil, plan.Secrets{Headers: map[string]plan.Secret{"Authorization": plan.NewSecret("Bearer " + key)}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		a := c.Read(c.Send(t.Context(), []byte("{}"), maxPage, false), Want{Inputs: 1})
		_, discovered := c.Discover(t.Context())
		if shown := fmt.Sprintf("%+v %v", a, discovered); strings.Contains(shown, "SEKRET") || a.Outcome == record.OK {
			t.Errorf("%s: %s", name, shown)
		}
		c.Close()
		s.Close()
	}
}
