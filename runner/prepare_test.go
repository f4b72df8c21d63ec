package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"rung/runner/target"
	"rung/sinks/record"
	"rung/spec/plan"
)

// tokeniser is a server whose model puts specials around each text: a word is a
// token, in vLLM's form.
func tokeniser(specials, template int) func(string) (int, string) {
	return func(body string) (int, string) {
		var q struct {
			Prompt   *string `json:"prompt"`
			Special  bool    `json:"add_special_tokens"`
			Messages []struct{ Content string }
		}
		_ = json.Unmarshal([]byte(body), &q)
		if q.Prompt == nil {
			if len(q.Messages) == 0 {
				return 200, `{"tokens":[]}`
			}
			return 200, fmt.Sprintf(`{"count":%d}`, template+len(strings.Fields(q.Messages[0].Content)))
		}
		ids := make([]int, 0)
		for i, w := range strings.Fields(*q.Prompt) {
			ids = append(ids, 2000+len(w)*100+i%50)
		}
		if q.Special {
			for i := range specials {
				ids = append(ids, 101+i)
			}
		}
		raw, _ := json.Marshal(ids)
		return 200, fmt.Sprintf(`{"count":%d,"tokens":%s}`, len(ids), raw)
	}
}

// textOnly refuses ids, as several servers do, and counts texts with specials.
func textOnly(f *fake, specials int) {
	f.count = func(in json.RawMessage) int { return specials + len(strings.Fields(textOf(in))) }
	f.answer = func(q asked) said {
		if strings.Contains(string(q.fields["input"]), "[[") {
			return said{status: 422, body: `{"detail":"Input should be a valid string"}`}
		}
		return said{}
	}
}

// Each form of prompt is found, and every answer confirms its length.
func TestForms(t *testing.T) {
	for _, tt := range []struct {
		name      string
		set       func(f *fake, cfg *Config)
		form      string
		tokeniser string
		extra     int
		warns     string
	}{
		{"ids without a tokeniser", func(*fake, *Config) {}, "ids", "", 0, ""},
		{"ids with special tokens", func(f *fake, _ *Config) { f.tokenise = tokeniser(2, 0) }, "ids", "vllm /tokenize", 0, ""},
		{"ids of a text", func(f *fake, cfg *Config) { f.tokenise = tokeniser(2, 0); withText(cfg, "some words of a text") }, "ids", "vllm /tokenize", 0, ""},
		{"text by its tokeniser", func(f *fake, _ *Config) { f.tokenise = tokeniser(2, 0); textOnly(f, 2) }, "text", "vllm /tokenize", 2, ""},
		{"a text by its tokeniser", func(f *fake, cfg *Config) {
			f.tokenise = tokeniser(2, 0)
			textOnly(f, 2)
			withText(cfg, "some words of a text")
		}, "text", "vllm /tokenize", 2, ""},
		{"text by usage", func(f *fake, _ *Config) { textOnly(f, 3) }, "text", "usage", 3, ""},
		{"a text without a tokeniser", func(f *fake, cfg *Config) { textOnly(f, 3); withText(cfg, "some words") }, "text", "usage", 3, "text file is not used"},
		{"a text by usage, though ids are taken", func(_ *fake, cfg *Config) { withText(cfg, "some words") }, "text", "usage", 0, "text file is not used"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f := newFake(t)
				cfg := config(f.net, batchLadder("batch", 1, 3, 2, 1, 3))
				tt.set(f, &cfg)
				p, out := prepare(t, cfg), &tape{}
				if s := p.Server(); s.InputForm != tt.form || s.Tokeniser != tt.tokeniser || s.TemplateExtra != tt.extra {
					t.Errorf("%+v", s)
				}
				if w := strings.Join(p.warnings, "\n"); tt.warns == "" && w != "" || !strings.Contains(w, tt.warns) {
					t.Errorf("warnings: %s", w)
				}
				if _, err := p.Run(t.Context(), t.Context(), out.put); err != nil {
					t.Fatal(err)
				}
				for _, r := range out.rows(phase(record.Measure)) {
					if r.Outcome != record.OK || *r.InputTokens != r.Inputs*16 || !r.Counted {
						t.Errorf("%s: %s, %d tokens for %d inputs", r.Outcome, r.Error, *r.InputTokens, r.Inputs)
					}
				}
			})
		})
	}
}

func withText(cfg *Config, text string) {
	pr := plan.Prompt{Name: "p", TextFile: "text.txt", TextHash: digest([]byte(text))}
	cfg.Texts = map[string][]byte{pr.TextHash: []byte(text)}
	for i := range cfg.Cell.Ladders {
		cfg.Cell.Ladders[i].Prompt = pr
	}
}

// A chat's template is counted in, whatever tells its size, and a server that
// refuses ignore_eos is asked without.
func TestChatForms(t *testing.T) {
	for _, tt := range []struct {
		name     string
		tokenise func(string) (int, string)
		refuses  bool
		output   int
		warns    string
	}{
		{"by its tokeniser", tokeniser(1, 11), false, 8, ""},
		{"by usage", nil, false, 8, ""},
		{"by its tokeniser, no ignore_eos", tokeniser(1, 11), true, 8, "refuses ignore_eos"},
		{"by usage, no ignore_eos", nil, true, 8, "refuses ignore_eos"},
		{"ends early", tokeniser(1, 11), false, 5, "asked for 8 output tokens the server gave 5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f := newFake(t)
				f.template, f.tokenise = 11, tt.tokenise
				f.answer = func(q asked) said {
					if _, ok := q.fields["ignore_eos"]; ok && tt.refuses {
						return said{status: 400, body: `{"error":{"message":"unknown field ignore_eos"}}`}
					}
					return said{output: new(tt.output)}
				}
				p, out := prepare(t, chatConfig(f.net, 8)), &tape{}
				if got := p.Server().TemplateExtra; got != 11 {
					t.Errorf("the template adds %d", got)
				}
				if w := p.warnings; tt.warns == "" && len(w) > 0 || tt.warns != "" && (len(w) != 1 || !strings.Contains(w[0], tt.warns)) {
					t.Errorf("warnings: %q", w)
				}
				if _, err := p.Run(t.Context(), t.Context(), out.put); err != nil {
					t.Fatal(err)
				}
				rows := out.rows(phase(record.Measure))
				for _, r := range rows {
					if r.Outcome != record.OK || *r.InputTokens != 20 || *r.OutputTokens != tt.output || *r.OutputTokensPlanned != 8 || !r.Counted {
						t.Errorf("%+v", r)
					}
				}
				if len(rows) != 2 {
					t.Errorf("%d rows", len(rows))
				}
			})
		})
	}
}

// What stands in the way is one named error before anything is emitted.
func TestPrepareErrors(t *testing.T) {
	status := func(path string, status int, body string) func(*fake, *Config) {
		return func(f *fake, _ *Config) {
			if path == "models" {
				f.models = func(w http.ResponseWriter) { w.WriteHeader(status); fmt.Fprint(w, body) }
				return
			}
			f.answer = func(asked) said { return said{status: status, body: body} }
		}
	}
	for _, tt := range []struct {
		name string
		set  func(f *fake, cfg *Config)
		want string
	}{
		{"unreachable", func(f *fake, _ *Config) { _ = f.net.Close() }, "can't be reached: http://127.0.0.1:8000"},
		{"wrong model", status("models", 200, `{"data":[{"id":"other"}]}`), `has no model "m": it lists "other"`},
		{"refused key", status("models", 401, "no key"), "refused the key: status 401: no key"},
		{"key refused on the inference route", status("infer", 401, "no key"), "refused the key: status 401: no key"},
		{"forbidden on the inference route", status("infer", 403, "no"), "refused the key: status 403"},
		{"no such route", status("infer", 404, "nothing"), "status 404: nothing; is target.api right"},
		{"broken server", status("infer", 500, "boom"), "the request before the run failed: server_error, status 500: boom"},
		{"out of memory at once", status("infer", 500, "CUDA out of memory"), "the request before the run failed: oom"},
		{"too long", status("infer", 400, "maximum context length"), "the shortest prompt of the spec is too long"},
		{"hangs", func(f *fake, _ *Config) { f.answer = func(asked) said { return said{after: time.Hour} } }, "is target.timeout too short"},
		{"breaks off", func(f *fake, _ *Config) { f.answer = func(asked) said { return said{drop: true} } }, "can't be reached"},
		{"ids too short", func(f *fake, cfg *Config) { f.tokenise = tokeniser(16, 0) }, "a prompt of 16 tokens is too short: with the model's special tokens the least is 17"},
		{"text too short", func(f *fake, cfg *Config) { f.tokenise = tokeniser(16, 0); textOnly(f, 16) }, "the least is 17"},
		{"counts characters", func(f *fake, _ *Config) {
			textOnly(f, 0)
			f.count = func(in json.RawMessage) int { return len(textOf(in)) }
		}, "no form of prompt was found whose length the server confirms: 8 more words are"},
		{"no usage", func(f *fake, _ *Config) {
			textOnly(f, 0)
			ids := f.answer
			f.answer = func(q asked) said {
				if s := ids(q); s.status != 0 {
					return s
				}
				return said{body: `{"data":[{"index":0,"embedding":[1,2]}]}`}
			}
		}, "no tokenise endpoint and its answers have no usage"},
		{"an empty text", func(f *fake, cfg *Config) { f.tokenise = tokeniser(2, 0); withText(cfg, " \n ") }, "no token in the text file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f := newFake(t)
				cfg := config(f.net, batchLadder("batch", 1, 1, 1, 1))
				tt.set(f, &cfg)
				p, err := Prepare(t.Context(), cfg)
				if p != nil || err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%v, want %q", err, tt.want)
				}
				if n := f.seen(); strings.Contains(tt.name, "on the inference route") && n != 1 {
					t.Errorf("asked %d times with a key that is refused", n)
				}
				if (tt.name == "unreachable") != (errors.Is(err, target.ErrUnreachable) && tt.name != "breaks off") {
					t.Errorf("ErrUnreachable: %v", err)
				}
			})
		})
	}
}

// What is not known is said, not taken for granted.
func TestPrepareWarnings(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  func(f *fake)
		want string
	}{
		{"no model list", func(f *fake) { f.models = func(w http.ResponseWriter) { w.WriteHeader(404) } }, "no /v1/models"},
		{"limit", func(f *fake) {
			f.models = func(w http.ResponseWriter) { fmt.Fprint(w, `{"data":[{"id":"m","max_model_len":15}]}`) }
		}, `prompt "p" asks for 16 tokens and the server takes 15`},
		{"no usage of ids", func(f *fake) {
			f.answer = func(asked) said { return said{body: `{"data":[{"index":0,"embedding":[1,2]}]}`} }
		}, "gives no usage"},
		{"no usage of texts", func(f *fake) {
			textOnly(f, 0)
			f.tokenise = tokeniser(0, 0)
			ids := f.answer
			f.answer = func(q asked) said {
				if s := ids(q); s.status != 0 {
					return s
				}
				return said{body: `{"data":[{"index":0,"embedding":[1,2]}]}`}
			}
		}, "gives no usage"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f := newFake(t)
				tt.set(f)
				p, out := prepare(t, config(f.net, batchLadder("batch", 1, 1, 1, 1))), &tape{}
				if w := p.warnings; len(w) != 1 || !strings.Contains(w[0], tt.want) {
					t.Errorf("%q", w)
				}
				if _, err := p.Run(t.Context(), t.Context(), out.put); err != nil {
					t.Error(err)
				}
				if w := out.reasons(record.Warning); len(w) != 1 || !strings.Contains(w[0], tt.want) {
					t.Errorf("emitted: %q", w)
				}
				for _, r := range out.rows(phase(record.Measure)) {
					if tt.want == "gives no usage" && r.InputTokens != nil {
						t.Errorf("tokens that the server did not say: %+v", r)
					}
				}
			})
		})
	}
}
