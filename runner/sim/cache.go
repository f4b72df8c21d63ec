package sim

import (
	"container/list"
	"sync"

	"rung/spec/plan"
)

const (
	cacheBlock  = 16      // tokens, where the plan has none
	cacheBlocks = 1 << 16 // what a cache holds without a pool that bounds it
)

// cache knows the blocks of tokens that prompts began with. A block counts with all
// that stood before it, so that only a common beginning is found.
type cache struct {
	block int
	limit int

	mu     sync.Mutex
	order  *list.List // of keys, the latest used in front
	blocks map[uint64]*list.Element
}

// newCache gives a cache for the tokens of a pool, or of no pool where that is 0;
// nil where the plan has none.
func newCache(p plan.Simulator, pool int) *cache {
	if !p.PrefixCache {
		return nil
	}
	c := &cache{block: blockOf(p), limit: cacheBlocks, order: list.New(), blocks: map[uint64]*list.Element{}}
	if pool > 0 {
		c.limit = max(1, pool/c.block)
	}
	return c
}

func blockOf(p plan.Simulator) int {
	if p.CacheBlock > 0 {
		return p.CacheBlock
	}
	return cacheBlock
}

// lookup gives the tokens at the beginning of a prompt that need no work, and keeps
// its blocks. The last token always needs work: the answer comes from it.
func (c *cache) lookup(tokens []int) int {
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	most, hits, key := (len(tokens)-1)/c.block, 0, uint64(fnvOffset)
	for i := range len(tokens) / c.block {
		for _, t := range tokens[i*c.block : (i+1)*c.block] {
			key = (key ^ uint64(t)) * fnvPrime
		}
		if c.keep(key) && hits == i && i < most {
			hits++
		}
	}
	return hits * c.block
}

// FNV-1a, over tokens for bytes.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// keep puts a block in front, and says whether it was there.
func (c *cache) keep(key uint64) bool {
	if e, ok := c.blocks[key]; ok {
		c.order.MoveToFront(e)
		return true
	}
	if c.order.Len() >= c.limit {
		last := c.order.Back()
		if old, ok := c.order.Remove(last).(uint64); ok {
			delete(c.blocks, old)
		}
	}
	c.blocks[key] = c.order.PushFront(key)
	return false
}
