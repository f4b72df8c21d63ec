package sim

import (
	"testing"
	"time"

	"rung/runner/target"
	"rung/sinks/record"
	"rung/spec/plan"
)

func TestCacheBlocks(t *testing.T) {
	p := plan.Simulator{PrefixCache: true, CacheBlock: 4}
	c := newCache(p, 0)
	for i, tt := range []struct {
		tokens []int
		want   int
	}{
		{ramp(1, 12), 0},
		{ramp(1, 12), 8}, // the last token is always computed
		{ramp(1, 13), 12},
		{append(ramp(1, 6), ramp(50, 6)...), 4},
		{ramp(5, 12), 0}, // the same blocks behind another beginning
		{ramp(1, 3), 0},
	} {
		if got := c.lookup(tt.tokens); got != tt.want {
			t.Errorf("%d: %d tokens, want %d", i, got, tt.want)
		}
	}
	if c := newCache(plan.Simulator{}, 0); c.lookup(ramp(1, 100)) != 0 {
		t.Error("a cache that is not there")
	}
}

// A full cache gives up what was not used for the longest.
func TestCacheBounded(t *testing.T) {
	c := newCache(plan.Simulator{PrefixCache: true, CacheBlock: 4}, 10)
	a, b := ramp(1, 5), ramp(101, 5)
	c.lookup(a)
	c.lookup(b)
	c.lookup(a)
	c.lookup(ramp(201, 5)) // takes b's place
	if hit, miss := c.lookup(a), c.lookup(b); hit != 4 || miss != 0 || c.order.Len() != 2 || len(c.blocks) != 2 {
		t.Errorf("%d and %d, %d blocks", hit, miss, c.order.Len())
	}
}

// What is in the cache takes no time, and is said.
func TestPrefixCache(t *testing.T) {
	p := params()
	p.PrefixCache = true
	bubble(t, plan.OpenAICompletions, p, func(t *testing.T, b *bench) {
		first := b.complete(1, 3001, 1, true)
		b.span(first, 2*time.Millisecond+3001*10*time.Microsecond+3*time.Millisecond)
		again := b.complete(1, 3001, 1, true)
		b.span(again, 2*time.Millisecond+10*time.Millisecond+3*time.Millisecond) // 3001 - 2992 tokens
		if *first.a.CachedTokens != 0 || *again.a.CachedTokens != 2992 || *again.a.InputTokens != 3001 {
			t.Errorf("%d, then %d", *first.a.CachedTokens, *again.a.CachedTokens)
		}
		if q, h := b.metric("prefix_cache_queries_total"), b.metric("prefix_cache_hits_total"); q != "6002" || h != "2992" {
			t.Errorf("metrics: %s queried, %s hit", q, h)
		}
		b.restart()
		if x := b.complete(1, 3001, 1, true); *x.a.CachedTokens != 0 {
			t.Errorf("after a restart: %d", *x.a.CachedTokens)
		}
	})
	bubble(t, plan.OpenAIChat, p, func(t *testing.T, b *bench) {
		text := "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
		o := target.Options{OutputTokens: 1}
		b.say(text, o)
		if x := b.say(text, o); *x.a.CachedTokens != 16 { // of 2 + 4 + 16
			t.Errorf("chat: %d", *x.a.CachedTokens)
		}
	})
	bubble(t, plan.OpenAIEmbeddings, p, func(t *testing.T, b *bench) {
		b.embed(500, 2, 40)
		x := b.embed(500, 2, 40)
		b.want(x, record.OK)
		if *x.a.CachedTokens != 64 || b.entries()[1].CachedTokens != 64 {
			t.Errorf("embeddings: %d", *x.a.CachedTokens)
		}
	})
	bubble(t, plan.OpenAIEmbeddings, params(), func(t *testing.T, b *bench) {
		if x := b.embed(1, 2, 40); x.a.CachedTokens != nil {
			t.Errorf("without a cache: %d", *x.a.CachedTokens)
		}
	})
}
