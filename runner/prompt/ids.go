package prompt

import (
	"fmt"
	"math/rand/v2"
)

// nonceTokens is how many leading tokens are drawn one by one: with a thousand
// ids to draw from, 10^18 beginnings.
const nonceTokens = 6

// Seeded ids are drawn from a range that vocabularies share: below lie special
// tokens and bytes, above end the smaller vocabularies.
const (
	lowID         = 1000
	highIDDefault = 28000
)

// IDs makes inputs of token ids.
type IDs struct {
	Prefix, Suffix []int // special tokens that the model puts around each text
	Corpus         []int // ids of real text; empty: seeded ids
	Vocabulary     int   // number of ids; 0: not known
}

// Least is the smallest length, in tokens.
func (m IDs) Least() int { return len(m.Prefix) + len(m.Suffix) + 1 }

// Input makes one input of n tokens from a seed. The same seed gives the same
// ids. It fails where n is below Least.
func (m IDs) Input(seed [32]byte, n int) ([]int, error) {
	if n < m.Least() {
		return nil, fmt.Errorf("a prompt of %d tokens is too short: with the model's special tokens the least is %d", n, m.Least())
	}
	r := rand.New(rand.NewChaCha8(seed))
	out := make([]int, 0, n)
	out = append(out, m.Prefix...)
	body := n - len(m.Prefix) - len(m.Suffix)
	for range min(body, nonceTokens) {
		out = append(out, m.draw(r))
	}
	if len(m.Corpus) > 0 {
		for at := r.IntN(len(m.Corpus)); len(out) < n-len(m.Suffix); at++ {
			out = append(out, m.Corpus[at%len(m.Corpus)])
		}
	}
	for len(out) < n-len(m.Suffix) {
		out = append(out, m.draw(r))
	}
	return append(out, m.Suffix...), nil
}

func (m IDs) draw(r *rand.Rand) int {
	if len(m.Corpus) > 0 {
		return m.Corpus[r.IntN(len(m.Corpus))]
	}
	high := highIDDefault
	if m.Vocabulary > lowID+1 {
		high = min(high, m.Vocabulary)
	}
	return lowID + r.IntN(high-lowID)
}

// SplitSpecials finds what a tokeniser puts around a text: with holds the ids
// with special tokens, bare those without. Where bare does not lie within with,
// ok is false.
func SplitSpecials(with, bare []int) (prefix, suffix []int, ok bool) {
	for at := 0; at+len(bare) <= len(with); at++ {
		if equal(with[at:at+len(bare)], bare) {
			return with[:at], with[at+len(bare):], true
		}
	}
	return nil, nil, false
}

func equal(a, b []int) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
