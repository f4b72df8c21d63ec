package prompt

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode"
)

// Counter tells how many tokens the server sees in an input of this text, all
// that the template and the tokeniser add included.
type Counter func(ctx context.Context, text string) (int, error)

// Texts makes inputs of text.
type Texts struct {
	Pieces   []string // of the corpus, each with the blank before it; empty: built-in words
	Count    Counter
	Overhead int // tokens of an input beside its text
}

// cuts bounds the counts that look for the piece at which a text is cut.
const cuts = 40

// Least is the smallest length, in tokens.
func (m Texts) Least() int { return m.Overhead + 1 }

// Input makes one text of n tokens from a seed: drawn words, then the corpus from
// a drawn place, cut where the server's count says so, then filled up. It fails
// where n is below Least or the count can't be met.
func (m Texts) Input(ctx context.Context, seed [32]byte, n int) (string, error) {
	if n < m.Least() {
		return "", fmt.Errorf("a prompt of %d tokens is too short: with what the server adds the least is %d", n, m.Least())
	}
	pieces := m.pieces(rand.New(rand.NewChaCha8(seed)), n)
	low, high := bound{0, m.Overhead}, bound{len(pieces) + 1, 0} // known to fit, and known not to
	k := min(len(pieces), max(1, n-m.Overhead))
	for try := range cuts {
		text := join(pieces[:k])
		c, err := m.Count(ctx, text)
		if err != nil {
			return "", err
		}
		switch {
		case c == n:
			return text, nil
		case c > n:
			high = bound{k, c}
		default:
			low = bound{k, c}
		}
		if high.pieces-low.pieces <= 1 {
			break
		}
		k = guess(low, high, n, try)
	}
	next := ""
	if low.pieces < len(pieces) {
		next = pieces[low.pieces]
	}
	return m.fill(ctx, join(pieces[:low.pieces]), next, n)
}

// bound is a number of pieces and the tokens that they had; 0 where not counted.
type bound struct{ pieces, tokens int }

// guess takes the next number of pieces to try: where the line through the two
// bounds meets the tokens wanted or, each third time, half way, since pieces are
// not all alike and a line may creep.
func guess(low, high bound, want, try int) int {
	k := (low.pieces + high.pieces) / 2
	switch {
	case try%3 == 2:
	case high.tokens > low.tokens:
		k = low.pieces + (high.pieces-low.pieces)*(want-low.tokens)/(high.tokens-low.tokens)
	case low.pieces > 0 && low.tokens > 0:
		k = low.pieces * want / low.tokens
	}
	return min(max(k, low.pieces+1), high.pieces-1)
}

func join(pieces []string) string { return strings.TrimLeft(strings.Join(pieces, ""), " ") }

// pieces draws the words that make the input its own, then enough of the corpus.
func (m Texts) pieces(r *rand.Rand, n int) []string {
	out := make([]string, 0, n+nonceTokens)
	for range nonceTokens {
		out = append(out, " "+words[r.IntN(len(words))])
	}
	if len(m.Pieces) > 0 {
		for at := r.IntN(len(m.Pieces)); len(out) < n+nonceTokens; at++ {
			out = append(out, m.Pieces[at%len(m.Pieces)])
		}
		return out
	}
	for len(out) < n {
		out = append(out, " "+words[r.IntN(len(words))])
	}
	return out
}

// pieceRunes bounds a piece, for scripts that have no blanks.
const pieceRunes = 8

// Split cuts a text into pieces that give it back when joined: words with the
// blank before them, long ones cut. Runs of blanks become one.
func Split(text string) []string {
	var out []string
	for _, word := range strings.FieldsFunc(text, unicode.IsSpace) {
		rest := []rune(" " + word)
		for len(rest) > pieceRunes+1 {
			out = append(out, string(rest[:pieceRunes]))
			rest = rest[pieceRunes:]
		}
		out = append(out, string(rest))
	}
	return out
}
