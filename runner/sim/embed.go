package sim

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"rung/spec/plan"
)

const dimensions = 64

// embeddings is OpenAI's API.
func (c *call) embeddings() error {
	var req struct {
		Model  string          `json:"model"`
		Input  json.RawMessage `json:"input"`
		Format string          `json:"encoding_format"`
	}
	if err := c.decode(&req); err != nil {
		return err
	}
	s := c.p.s
	if err := s.checkModel(req.Model); err != nil {
		return err
	}
	if req.Format != "" && req.Format != "float" && req.Format != "base64" {
		return bad("encoding_format must be float or base64")
	}
	ins, err := s.inputs(req.Input)
	if err != nil {
		return err
	}
	for _, in := range ins {
		if err := s.checkLength(in.n); err != nil {
			return err
		}
	}
	vectors, err := c.vectors(ins)
	if err != nil {
		return err
	}
	data := make([]any, len(vectors))
	for i, v := range vectors {
		var shown any = v
		if req.Format == "base64" {
			shown = base64Of(v)
		}
		data[i] = map[string]any{"index": i, "object": "embedding", "embedding": shown}
	}
	page := map[string]any{"object": "list", "model": s.cfg.Model, "data": data}
	c.usage(page, 0)
	return c.answer(page)
}

// embed is TEI's API: a bare list of vectors, and all else in headers.
func (c *call) embed() error {
	var req struct {
		Inputs   json.RawMessage `json:"inputs"`
		Truncate *bool           `json:"truncate"`
	}
	if err := c.decode(&req); err != nil {
		return err
	}
	s := c.p.s
	ins, err := s.inputs(req.Inputs)
	if err != nil {
		return err
	}
	for i, in := range ins {
		if in.n <= s.longest() {
			continue
		}
		if req.Truncate != nil && !*req.Truncate {
			return bad("Input validation error: `inputs` must have less than %d tokens. Given: %d", s.longest(), in.n)
		}
		ids := s.tokens(in)[:s.longest()]
		ins[i] = input{n: len(ids), ids: ids}
	}
	begin := time.Now()
	vectors, err := c.vectors(ins)
	if err != nil {
		return err
	}
	c.teiHeaders(time.Since(begin))
	return c.answer(vectors)
}

// teiHeaders say what TEI says of its work, in milliseconds.
func (c *call) teiHeaders(total time.Duration) {
	h, p := c.w.Header(), c.params()
	ms := func(d time.Duration) string { return fmt.Sprintf("%d", d.Milliseconds()) }
	inference := min(total, forwardTime(p, c.entry.InputTokens-c.entry.CachedTokens))
	h.Set("X-Compute-Type", "simulated")
	h.Set("X-Total-Time", ms(total))
	h.Set("X-Tokenization-Time", "0")
	h.Set("X-Queue-Time", ms(total-inference))
	h.Set("X-Inference-Time", ms(inference))
	if c.fault.Kind != plan.FaultNoUsage {
		h.Set("X-Compute-Tokens", fmt.Sprintf("%d", c.entry.InputTokens+p.CountOffset))
	}
}

// vectors does the work for inputs that were found good.
func (c *call) vectors(ins []input) ([][]float32, error) {
	if err := c.p.s.checkBatch(len(ins)); err != nil {
		return nil, err
	}
	j := c.job(ins)
	if err := c.strike(false); err != nil {
		return nil, err
	}
	if err := c.p.engine.embed(c.r.Context(), j); err != nil {
		return nil, err
	}
	c.p.engine.counts.add(func(n *counts) {
		n.promptTokens += j.tokens
		n.stops += j.inputs
	})
	out := make([][]float32, len(ins))
	for i := range out {
		out[i] = vector(c.digest, i)
	}
	return c.spoilt(out), nil
}

// job notes the request's size and what of it is in the cache.
func (c *call) job(ins []input) *job {
	e := c.p.engine
	j := &job{inputs: len(ins), digest: c.digest, done: make(chan error, 1)}
	for _, in := range ins {
		j.tokens += in.n
		j.longest = max(j.longest, in.n)
	}
	c.entry.Inputs, c.entry.InputTokens = j.inputs, j.tokens
	if e.cache == nil {
		return j
	}
	for _, in := range ins {
		j.cached += e.cache.lookup(c.p.s.tokens(in))
	}
	c.entry.CachedTokens = j.cached
	e.counts.add(func(n *counts) {
		n.cacheQueries += j.tokens
		n.cacheHits += j.cached
	})
	return j
}

// usage adds to an answer what was counted.
func (c *call) usage(page map[string]any, output int) {
	if c.fault.Kind == plan.FaultNoUsage {
		return
	}
	n := c.entry.InputTokens + c.params().CountOffset
	u := map[string]any{"prompt_tokens": n, "total_tokens": n + output, "completion_tokens": output}
	if c.params().PrefixCache {
		u["prompt_tokens_details"] = map[string]int{"cached_tokens": c.entry.CachedTokens}
	}
	page["usage"] = u
}

// vector is a small vector, never zero, that depends on the request alone.
func vector(digest [32]byte, i int) []float32 {
	v := make([]float32, dimensions)
	for d := range v {
		b := digest[(d+i)%len(digest)]
		v[d] = (float32(b)+1)/256 - 0.5
	}
	v[0] = 1 + float32(binary.BigEndian.Uint16(digest[:2]))/65536
	return v
}

// base64Of is a vector as little-endian float32.
func base64Of(v []float32) string {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(b)
}
