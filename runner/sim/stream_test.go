package sim

import (
	"strings"
	"testing"
	"time"

	"rung/runner/target"
	"rung/sinks/record"
	"rung/spec/plan"
)

// A stream takes the time that its closed form says, token by token, and the server's
// log says the same as the client.
func TestStream(t *testing.T) {
	p := params()
	p.LogChunks = true
	for _, api := range []plan.API{plan.OpenAIChat, plan.OpenAICompletions} {
		bubble(t, api, p, func(t *testing.T, b *bench) {
			x := b.complete(1, 50, 20, true)
			if api == plan.OpenAIChat {
				x = b.say("a b c", target.Options{OutputTokens: 20, Exact: true, Stream: true})
			}
			b.want(x, record.OK)
			b.span(x, chatTime(p, 50, 20)) // 12 ms and 20 of 3 ms
			if ttft := x.a.FirstToken.Sub(x.Sent); ttft != 15*time.Millisecond {
				t.Errorf("%s: first token after %s", api, ttft)
			}
			if *x.a.Chunks != 20 || len(x.a.GapsS) != 19 || *x.a.OutputTokens != 20 || x.a.FinishReason != "length" {
				t.Errorf("%s: %+v", api, x.a)
			}
			for i, gap := range x.a.GapsS {
				if gap != 0.003 {
					t.Errorf("%s: gap %d is %g s", api, i, gap)
				}
			}
			log := b.entries()
			e := log[len(log)-1]
			if e.SentS-e.ReceivedS != x.a.FirstToken.Sub(x.Sent).Seconds() || len(e.ChunksS) != 20 || e.ChunksS[0] != e.SentS || e.OutputTokens != 20 || e.Status != 200 {
				t.Errorf("%s: %+v", api, e)
			}
		})
	}
}

// What stands in a stream, in order.
func TestStreamEvents(t *testing.T) {
	p := quick()
	p.TokensPerChunk = 2
	bubble(t, plan.OpenAIChat, p, func(t *testing.T, b *bench) {
		for _, tt := range []struct{ path, body, want string }{
			{"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"a"}],"max_tokens":3,"stream":true,"stream_options":{"include_usage":true}}`,
				`role 2 1 length usage [DONE]`},
			{"/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"a"}],"max_tokens":2,"stream":true}`, `role 2 length [DONE]`},
			{"/v1/completions", `{"model":"m","prompt":"a b","max_tokens":4,"stream":true,"stream_options":{"include_usage":true}}`, `2 2 length usage [DONE]`},
		} {
			_, body := b.post(tt.path, tt.body)
			var got []string
			for event := range strings.SplitSeq(strings.TrimSpace(body), "\n\n") {
				data := strings.TrimPrefix(event, "data: ")
				switch {
				case data == "[DONE]":
					got = append(got, data)
				case strings.Contains(data, `"choices":[]`) && strings.Contains(data, `"usage"`):
					got = append(got, "usage")
				case strings.Contains(data, `"finish_reason":"length"`):
					got = append(got, "length")
				case strings.Contains(data, `"role":"assistant"`) && strings.Contains(data, `"content":""`):
					got = append(got, "role")
				default:
					got = append(got, string('0'+rune(strings.Count(data, "simulated "))))
				}
			}
			if s := strings.Join(got, " "); s != tt.want {
				t.Errorf("%s: %s, want %s", tt.body, s, tt.want)
			}
		}
	})
}

// A whole answer takes as long as a streamed one.
func TestWholeAnswers(t *testing.T) {
	p := params()
	bubble(t, plan.OpenAICompletions, p, func(t *testing.T, b *bench) {
		x := b.complete(1, 50, 20, false)
		b.want(x, record.OK)
		b.span(x, chatTime(p, 50, 20))
		if *x.a.InputTokens != 50 || *x.a.OutputTokens != 20 || x.a.FinishReason != "length" {
			t.Errorf("%+v", x.a)
		}
		for body, says := range map[string]string{
			`{"model":"m","prompt":"a b"}`:                                `"completion_tokens":16`,
			`{"model":"m","prompt":[1,2,3],"max_tokens":1}`:               `"prompt_tokens":3`,
			`{"model":"m","prompt":["a","b"],"max_tokens":1}`:             "one prompt",
			`{"model":"m","prompt":"a","max_tokens":1,"n":2}`:             "n must be 1",
			`{"model":"m","prompt":"a","max_tokens":1,"min_tokens":2}`:    "min_tokens",
			`{"model":"m","prompt":[1],"max_tokens":8192}`:                "maximum context length",
			`{"model":"m","prompt":"a","max_completion_tokens":3}`:        `"completion_tokens":3`,
			`{"model":"m","prompt":"a","stream":true,"max_tokens":9000}`:  "maximum context length",
			`{"model":"m","stream":true,"max_tokens":9}`:                  "not empty",
			`{"model":"no","prompt":"a","max_tokens":1,"temperature":.7}`: "the body is no JSON",
		} {
			if _, got := b.post("/v1/completions", body); !strings.Contains(got, says) {
				t.Errorf("%s: %s", body, got)
			}
		}
	})
}

// The model's own end comes where nothing puts it off, and an early one whatever was
// asked.
func TestEnds(t *testing.T) {
	p := quick()
	p.AnswerTokens = 7
	bubble(t, plan.OpenAIChat, p, func(t *testing.T, b *bench) {
		for _, tt := range []struct {
			o      target.Options
			n      int
			reason string
		}{
			{target.Options{OutputTokens: 30}, 7, "stop"},
			{target.Options{OutputTokens: 30, Stream: true}, 7, "stop"},
			{target.Options{OutputTokens: 5}, 5, "length"},
			{target.Options{OutputTokens: 30, Exact: true}, 30, "length"},
		} {
			if x := b.say("a", tt.o); *x.a.OutputTokens != tt.n || x.a.FinishReason != tt.reason {
				t.Errorf("%+v: %d tokens, %s", tt.o, *x.a.OutputTokens, x.a.FinishReason)
			}
		}
		_, body := b.post("/v1/chat/completions", `{"model":"m","messages":[],"max_tokens":30,"min_tokens":9}`)
		if !strings.Contains(body, `"completion_tokens":9`) {
			t.Error(body)
		}
	})
	p.EarlyStop = 0.25
	bubble(t, plan.OpenAICompletions, p, func(t *testing.T, b *bench) {
		short := 0
		for i := range 400 {
			x := b.complete(i, 4, 30, true)
			b.want(x, record.OK)
			if *x.a.OutputTokens == 10 && x.a.FinishReason == "stop" && *x.a.Chunks == 10 {
				short++
			}
		}
		if short < 80 || short > 120 {
			t.Errorf("%d of 400 stopped early, want about 100", short)
		}
	})
}

// What runs out of memory before a stream begins is refused as any request is.
func TestStreamOutOfMemory(t *testing.T) {
	bubble(t, plan.OpenAICompletions, params(), func(t *testing.T, b *bench) {
		x := b.complete(1, 4990, 20, true)
		b.want(x, record.OOM)
		if x.Status != 500 {
			t.Errorf("status %d", x.Status)
		}
		b.want(b.complete(1, 4900, 20, true), record.OK)
	})
}
