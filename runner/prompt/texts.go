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

// filler adds one token in every tokeniser met so far.
const filler = " a"

// tries bounds the counts for one input.
const tries = 40

// Least is the smallest length, in tokens.
func (m Texts) Least() int { return m.Overhead + 1 }

// Input makes one text of n tokens from a seed: drawn words, then the corpus from
// a drawn place, cut where the server's count says so, then filled up. It fails
// where n is below Least or the count can't be met.
func (m Texts) Input(ctx context.Context, seed [32]byte, n int) (string, error) {
	if n < m.Least() {
		return "", fmt.Errorf("a prompt of %d tokens is too short: with what the server adds the least is %d", n, m.Least())
	}
	r := rand.New(rand.NewChaCha8(seed))
	pieces := m.pieces(r, n)
	low, high := 0, len(pieces)+1 // pieces that are known to fit, and known not to
	lowCount := m.Overhead
	k := min(len(pieces), max(1, n-m.Overhead))
	for range tries {
		text := strings.TrimLeft(strings.Join(pieces[:k], ""), " ")
		c, err := m.Count(ctx, text)
		if err != nil {
			return "", err
		}
		switch {
		case c == n:
			return text, nil
		case c > n:
			high = k
		default:
			low, lowCount = k, c
		}
		if high-low <= 1 {
			break
		}
		k = guess(low, high, lowCount-m.Overhead, n-m.Overhead)
	}
	return m.fill(ctx, strings.TrimLeft(strings.Join(pieces[:low], ""), " "), n)
}

// guess takes the next number of pieces to try, by the tokens a piece had so far.
func guess(low, high, have, want int) int {
	k := (low + high) / 2
	if low > 0 && have > 0 {
		k = low * want / have
	}
	return min(max(k, low+1), high-1)
}

// fill adds single tokens until the count is met.
func (m Texts) fill(ctx context.Context, text string, n int) (string, error) {
	for range tries {
		c, err := m.Count(ctx, text)
		if err != nil {
			return "", err
		}
		switch {
		case c == n:
			return text, nil
		case c > n:
			return "", fmt.Errorf("no text of exactly %d tokens was found: the server counts %d and then more; try another length or text", n, c)
		}
		text = strings.TrimLeft(text+strings.Repeat(filler, n-c), " ")
	}
	return "", fmt.Errorf("no text of exactly %d tokens was found in %d tries; try another length or text", n, tries)
}

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
