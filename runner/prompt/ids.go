package prompt

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// nonceTokens is how many leading tokens are drawn one by one: with a thousand
// ids to draw from, 10^18 beginnings.
const nonceTokens = 6

// Chance is how many first tokens two inputs may share without being alike: a cache
// that keeps single tokens finds that many by chance.
const Chance = nonceTokens - 1

// leastAlphabet is how many distinct ids a corpus must have for the leading
// tokens to be drawn from it: 64^6 is 7·10^10 beginnings.
const leastAlphabet = 64

// Seeded ids are drawn from a range that vocabularies share: below lie special
// tokens and bytes, above end the smaller vocabularies.
const (
	lowID         = 1000
	highIDDefault = 28000
)

// IDs makes inputs of token ids. Set its fields by NewIDs.
type IDs struct {
	prefix, suffix []int // special tokens that the model puts around each text
	corpus         []int // ids of real text; empty: seeded ids
	alphabet       []int // distinct ids of the corpus; empty where they are too few to draw from
	low, high      int   // seeded ids lie in [low, high)
}

// NewIDs takes the special tokens that the model puts around each text, the ids
// of a real text (none: seeded ids) and the number of ids that the model has (0:
// not known).
func NewIDs(prefix, suffix, corpus []int, vocabulary int) *IDs {
	m := &IDs{prefix: prefix, suffix: suffix, corpus: corpus, low: lowID, high: highIDDefault}
	if vocabulary > 0 {
		m.high = min(m.high, vocabulary)
		m.low = min(m.low, m.high/2)
	}
	distinct := slices.Compact(slices.Sorted(slices.Values(corpus)))
	if len(distinct) >= leastAlphabet {
		m.alphabet = distinct
	}
	return m
}

// Prefix is how many special tokens stand before the text.
func (m *IDs) Prefix() int { return len(m.prefix) }

// Least is the smallest length, in tokens.
func (m *IDs) Least() int { return len(m.prefix) + len(m.suffix) + 1 }

// Input makes one input of n tokens from a seed. The same seed gives the same
// ids. It fails where n is below Least.
func (m *IDs) Input(seed [32]byte, n int) ([]int, error) {
	if n < m.Least() {
		return nil, fmt.Errorf("a prompt of %d tokens is too short: with the model's special tokens the least is %d", n, m.Least())
	}
	r := rand.New(rand.NewChaCha8(seed))
	out := make([]int, 0, n)
	out = append(out, m.prefix...)
	end := n - len(m.suffix)
	for range min(end-len(out), nonceTokens) {
		out = append(out, m.draw(r))
	}
	if len(m.corpus) > 0 {
		for at := r.IntN(len(m.corpus)); len(out) < end; at++ {
			out = append(out, m.corpus[at%len(m.corpus)])
		}
	}
	for len(out) < end {
		out = append(out, m.draw(r))
	}
	return append(out, m.suffix...), nil
}

// draw gives one id: each distinct one of the corpus with the same chance, so
// that a text in which one word rules still has many beginnings.
func (m *IDs) draw(r *rand.Rand) int {
	if len(m.alphabet) > 0 {
		return m.alphabet[r.IntN(len(m.alphabet))]
	}
	return m.low + r.IntN(m.high-m.low)
}

// SplitSpecials finds what a tokeniser puts around a text: with holds the ids
// with special tokens, bare those without. Where bare does not lie within with,
// ok is false.
func SplitSpecials(with, bare []int) (prefix, suffix []int, ok bool) {
	for at := 0; at+len(bare) <= len(with); at++ {
		if slices.Equal(with[at:at+len(bare)], bare) {
			return with[:at], with[at+len(bare):], true
		}
	}
	return nil, nil, false
}
