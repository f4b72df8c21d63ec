package sim

import (
	"strings"
	"testing"

	"rung/runner/target"
	"rung/sinks/record"
	"rung/spec/plan"
)

// TEI's form: vectors alone, all else in headers, and its own statuses.
func TestTEI(t *testing.T) {
	p := params()
	p.MaxClientBatch = 8
	bubble(t, plan.TEIEmbed, p, func(t *testing.T, b *bench) {
		x := b.embed(1, 3, 10)
		b.want(x, record.OK)
		if x.a.UsageSource != record.HeaderUsage || *x.a.InputTokens != 30 || *x.a.Timings.TotalS != 0.012 || *x.a.Timings.InferenceS != 0.012 || *x.a.Timings.QueueS != 0 {
			t.Errorf("%+v", x.a)
		}
		for _, tt := range []struct {
			body   string
			status int
			says   string
		}{
			{`{"inputs":"a b"}`, 200, "[["},
			{`{"inputs":"` + strings.Repeat("a ", 9000) + `"}`, 424, "out of memory"}, // cut to 8192 tokens, which don't fit
			{`{"inputs":"` + strings.Repeat("a ", 9000) + `","truncate":false}`, 422, `"error_type":"Validation"`},
			{`{"inputs":[]}`, 400, `"error_type":"Empty"`},
			{`{"inputs":["a","a","a","a","a","a","a","a","a"]}`, 422, "batch size 9 > maximum allowed batch size 8"},
		} {
			if status, got := b.post("/embed", tt.body); status != tt.status || !strings.Contains(got, tt.says) {
				t.Errorf("%.40s: %d %s", tt.body, status, got)
			}
		}
		info := fields(t, b.page("/info"))
		if info["model_id"] != "m" || info["max_input_length"] != 8192.0 || info["max_client_batch_size"] != 8.0 {
			t.Errorf("%v", info)
		}
		b.want(b.embed(1, 5, 1001), record.OOM)
	})
}

// Each way of tokenising gives what the model counts.
func TestTokeniseDialects(t *testing.T) {
	bubble(t, plan.OpenAIEmbeddings, quick(), func(t *testing.T, b *bench) {
		for _, d := range []target.Dialect{target.VLLM, target.TEI} {
			for special, want := range map[bool]int{true: 5, false: 3} {
				ids, err := b.c.Tokenise(t.Context(), d, "to be or", special)
				if err != nil || len(ids) != want {
					t.Errorf("%s: %v, %v", d, ids, err)
				}
			}
		}
		if n, ok, err := b.c.CountChat(t.Context(), target.VLLM, "a b c"); n != 9 || !ok || err != nil {
			t.Errorf("chat: %d, %v", n, err)
		}
	})
}

// Another tokeniser and another count than the model's.
func TestOffsets(t *testing.T) {
	p := quick()
	p.CountOffset, p.TokeniseFactor = 3, 1.2
	bubble(t, plan.OpenAIEmbeddings, p, func(t *testing.T, b *bench) {
		if x := b.embed(1, 2, 10); *x.a.InputTokens != 23 || x.a.Outcome != record.TokenMismatch {
			t.Errorf("%+v", x.a)
		}
		if ids, err := b.c.Tokenise(t.Context(), target.VLLM, strings.Repeat("a ", 100), false); len(ids) != 120 || err != nil {
			t.Errorf("%d, %v", len(ids), err)
		}
	})
}

// Vectors as base64 are the same vectors.
func TestBase64(t *testing.T) {
	bubble(t, plan.OpenAIEmbeddings, quick(), func(t *testing.T, b *bench) {
		_, body := b.post("/v1/embeddings", `{"model":"m","input":["a","b"],"encoding_format":"base64"}`)
		a := b.c.Read(target.Reply{Status: 200, Body: []byte(body)}, target.Want{Inputs: 2})
		if a.Outcome != record.OK || a.Dimensions != dimensions {
			t.Errorf("%+v of %s", a, body)
		}
		if status, body := b.post("/v1/embeddings", `{"model":"m","input":"a","encoding_format":"hex"}`); status != 400 {
			t.Error(body)
		}
	})
}
