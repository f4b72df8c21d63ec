package runner

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rung/sinks/record"
	"rung/spec/plan"
)

// tokenisedBy is a tokenise endpoint that counts so.
func tokenisedBy(tokens func(text string) int) func(string) (int, string) {
	return func(body string) (int, string) {
		var q struct {
			Prompt string `json:"prompt"`
		}
		_ = json.Unmarshal([]byte(body), &q)
		raw, _ := json.Marshal(slices.Repeat([]int{2000}, tokens(q.Prompt)))
		return 200, fmt.Sprintf(`{"tokens":%s}`, raw)
	}
}

// lengths is a ladder of input lengths, a round of two requests at each.
func lengths(tokens ...int) plan.Ladder {
	l := batchLadder("length", 1, 1, 2, tokens...)
	l.Axis = plan.AxisInputTokens
	for i, n := range tokens {
		l.Rungs[i].Shape.Batch, l.Rungs[i].Shape.InputTokens = 1, n
	}
	return l
}

// A length that the model's own special tokens fill is refused before anything is
// sent, with the least that there is.
func TestCase20(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  func(f *fake, cfg *Config)
		want string
	}{
		{"ids", func(f *fake, _ *Config) { f.tokenise = tokeniser(1, 0) }, "a prompt of 1 tokens is too short: with the model's special tokens the least is 2"},
		{"text", func(f *fake, cfg *Config) {
			f.tokenise = tokeniser(1, 11)
			cfg.Plan.Target.API = plan.OpenAIChat
		}, "a prompt of 1 tokens is too short: with what the server adds the least is 12"},
	} {
		bubble(t, func(t *testing.T) {
			f := newFake(t)
			cfg := config(f.net, lengths(8, 1))
			tt.set(f, &cfg)
			if p, err := Prepare(t.Context(), cfg); p != nil || err == nil || !strings.Contains(err.Error(), tt.want) || f.seen() != 0 {
				t.Errorf("%s: %v after %d requests", tt.name, err, f.seen())
			}
		})
	}
}

// merged counts as a tokeniser does in which two words of one length become one token:
// what is joined has another length than its parts together.
func merged(text string) int {
	n, before := 0, 0
	for w := range strings.FieldsSeq(text) {
		if len(w) == before {
			before = 0
			continue
		}
		before = len(w)
		n++
	}
	return n
}

// Where joining changes the count, prompts still have their length to the token, or
// are refused.
func TestCase26(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		textOnly(f, 0)
		f.tokenise = tokenisedBy(merged)
		f.count = func(in json.RawMessage) int { return merged(textOf(in)) }
		out := walkAll(t, config(f.net, lengths(15, 16, 17, 40, 133)))
		rows := out.rows(phase(record.Measure))
		for _, r := range rows {
			if r.Outcome != record.OK || !r.Counted || *r.InputTokens != int(r.Value) {
				t.Errorf("%s: %d tokens of %g", r.Outcome, *r.InputTokens, r.Value)
			}
		}
		if len(rows) != 10 {
			t.Errorf("%d rows", len(rows))
		}
	})
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		even := func(text string) int { return 2 * len(strings.Fields(text)) }
		textOnly(f, 0)
		f.tokenise = tokenisedBy(even)
		f.count = func(in json.RawMessage) int { return even(textOf(in)) }
		if _, err := Prepare(t.Context(), config(f.net, lengths(17))); err == nil || !strings.Contains(err.Error(), "no text of exactly 17 tokens was found") || f.seen() > 1 {
			t.Errorf("%v after %d requests", err, f.seen())
		}
	})
}

// Where answers count otherwise than the tokenise endpoint, prompts go by the answers
// if they differ by as much at two lengths; a factor is refused. Both counts are said.
func TestCase27(t *testing.T) {
	for _, tt := range []struct {
		name  string
		usage func(words int) int
		limit int
		want  string // of the warning, or of the refusal
		fails bool
	}{
		{"more", func(n int) int { return n + 5 }, 0, "the tokenise endpoint counts 16 and 32 tokens, the usage of its answers 19 and 35", false},
		{"fewer", func(n int) int { return n + 1 }, 0, "the tokenise endpoint counts 16 and 32 tokens, the usage of its answers 15 and 31", false},
		{"within its limit", func(n int) int { return n + 5 }, 20, "the tokenise endpoint counts 16 and 8 tokens, the usage of its answers 19 and 11", false},
		{"a factor", func(n int) int { return (n + 2) * 6 / 5 }, 0, "the server confirms: the tokenise endpoint counts 16 and 32 tokens, the usage of its answers 19 and 38", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f := newFake(t)
				textOnly(f, 0)
				f.tokenise = tokeniser(2, 0)
				f.count = func(in json.RawMessage) int { return tt.usage(len(strings.Fields(textOf(in)))) }
				if tt.limit > 0 {
					f.models = func(w http.ResponseWriter) { fmt.Fprintf(w, `{"data":[{"id":"m","max_model_len":%d}]}`, tt.limit) }
				}
				cfg := config(f.net, batchLadder("batch", 1, 2, 2, 1, 3))
				p, err := Prepare(t.Context(), cfg)
				if tt.fails {
					if err == nil || !strings.HasSuffix(err.Error(), tt.want) {
						t.Errorf("%v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				defer p.Close()
				if w := p.Warnings(); len(w) != 1 || !strings.Contains(w[0], tt.want) || p.Server().TemplateExtra != tt.usage(0) {
					t.Errorf("%q, %d more", w, p.Server().TemplateExtra)
				}
				out := &tape{}
				if _, err := p.Run(t.Context(), t.Context(), out.put); err != nil {
					t.Fatal(err)
				}
				rows := out.rows(phase(record.Measure))
				for _, r := range rows {
					if r.Outcome != record.OK || !r.Counted || *r.InputTokens != 16*r.Inputs {
						t.Errorf("%s: %d tokens of %d inputs", r.Outcome, *r.InputTokens, r.Inputs)
					}
				}
				if len(rows) != 8 {
					t.Errorf("%d rows", len(rows))
				}
			})
		})
	}
}

// What a template adds is measured once, before the run, taken off what is made, and
// on record; so is a begin-of-sequence that the server puts before what has one.
func TestCase28(t *testing.T) {
	for _, tt := range []struct {
		name     string
		api      plan.API
		template int
		tokenise func(string) (int, string)
		probes   int
	}{
		{"chat by its tokeniser", plan.OpenAIChat, 11, tokeniser(1, 11), 1},
		{"chat by usage", plan.OpenAIChat, 11, nil, 3},
		{"completions by usage", plan.OpenAICompletions, 1, nil, 4},
		{"completions with one twice", plan.OpenAICompletions, 1, tokeniser(1, 0), 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f := newFake(t)
				f.template, f.tokenise = tt.template, tt.tokenise
				cfg := chatConfig(f.net, 4)
				cfg.Plan.Target.API = tt.api
				p, out := prepare(t, cfg), &tape{}
				if got := p.Server().TemplateExtra; got != tt.template || f.seen() != tt.probes {
					t.Errorf("%d are added, by %d requests", got, f.seen())
				}
				if _, err := p.Run(t.Context(), t.Context(), out.put); err != nil {
					t.Fatal(err)
				}
				rows := out.rows(phase(record.Measure))
				for _, r := range rows {
					if r.Outcome != record.OK || *r.InputTokens != 20 || r.InputTokensPlanned != 20 || !r.Counted {
						t.Errorf("%+v", r)
					}
				}
				if len(rows) != 2 || f.seen() != tt.probes+3 {
					t.Errorf("%d rows, %d requests", len(rows), f.seen())
				}
			})
		})
	}
}

// Answers that end early though they must not are kept as they are, counted, and never
// asked for again; the throughput is of the tokens that came.
func TestCase29(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			if q.n%5 == 0 {
				return said{after: time.Second, output: new(40)}
			}
			return said{after: time.Second}
		}
		cfg := chatConfig(f.net, 128)
		cfg.Cell.Ladders[0].Rungs[0].Requests = 20
		out := walkAll(t, cfg)
		rows, short, tokens := out.rows(phase(record.Measure)), 0, 0
		for _, r := range rows {
			if !r.Counted || r.Attempt != 0 || r.Outcome != record.OK || *r.OutputTokensPlanned != 128 {
				t.Errorf("%+v", r)
			}
			tokens += *r.OutputTokens
			if *r.OutputTokens == 40 {
				short++
			}
		}
		if len(rows) != 40 || short != 8 || tokens != 32*128+8*40 {
			t.Errorf("%d rows, %d short, %d tokens", len(rows), short, tokens)
		}
		var sum tally
		sum.add(result{rows: rows, counted: [][]record.Request{rows[:20], rows[20:]}})
		if got := sum.Throughput(plan.OpenAIChat.Generates()); got < 0.999*float64(tokens)/40 || got > 1.001*float64(tokens)/40 {
			t.Errorf("%g tokens a second, %d came in 40 s", got, tokens)
		}
	})
}

// The server's count is used where the chunks say otherwise, and that they do is said
// once in a run.
func TestCase30(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said { return said{body: sse(10, q.tokens, 8)} }
		out := walkAll(t, streams(f.net, 16, batchLadder("chat", 2, 2, 3, 1)))
		for _, r := range out.rows(phase(record.Measure)) {
			if r.Outcome != record.OK || *r.OutputTokens != 8 || *r.Chunks != 10 || !r.Counted {
				t.Errorf("%+v", r)
			}
		}
		var said []string
		for _, w := range out.reasons(record.Warning) {
			if strings.Contains(w, "chunks") {
				said = append(said, w)
			}
		}
		if d := cmp.Diff([]string{"an answer came in 10 chunks with text, and its usage has 8 output tokens: the usage is what counts"}, said); d != "" {
			t.Error(d)
		}
	})
	bubble(t, func(t *testing.T) { // several tokens in a chunk are nothing to speak of
		f := newFake(t)
		f.answer = func(q asked) said { return said{body: sse(3, q.tokens, 8)} }
		if w := fmt.Sprint(walkAll(t, streams(f.net, 16, batchLadder("chat", 1, 1, 3, 1))).reasons(record.Warning)); strings.Contains(w, "chunks") {
			t.Error(w)
		}
	})
}
