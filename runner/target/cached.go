package target

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
)

// cacheCounters are what servers call the prompt tokens that their prefix cache gave.
//
//nolint:gochecknoglobals // a constant list; Go has no constant slices
var cacheCounters = [...]string{"vllm:prefix_cache_hits_total", "vllm:prefix_cache_hits", "vllm:gpu_prefix_cache_hits_total", "llamacpp:prompt_tokens_cached_total", "sglang:cached_tokens_total"}

// CachedTokens reads the server's own counter of prompt tokens that came from its
// prefix cache, over all engines; ok is false where its metrics have none.
func (c *Client) CachedTokens(ctx context.Context) (n float64, ok bool) {
	if c.program != nil {
		return 0, false
	}
	r := c.exchange(ctx, http.MethodGet, c.path("/metrics"), nil, maxPage, false)
	if r.Err != nil || r.Status != http.StatusOK {
		return 0, false
	}
	for _, name := range cacheCounters {
		for line := range bytes.Lines(r.Body) {
			if v, is := sampleOf(line, name); is {
				n, ok = n+v, true
			}
		}
		if ok {
			return n, true
		}
	}
	return 0, false
}

// sampleOf reads one line of a page of metrics, where it is of the series named.
func sampleOf(line []byte, name string) (float64, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(name))
	if !ok || len(rest) == 0 || rest[0] != ' ' && rest[0] != '{' {
		return 0, false
	}
	if rest[0] == '{' { // a label's value may hold blanks, never a brace behind the last
		rest = rest[bytes.LastIndexByte(rest, '}')+1:]
	}
	fields := bytes.Fields(rest)
	if len(fields) == 0 {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(fields[0]), 64)
	return v, err == nil && v >= 0
}
