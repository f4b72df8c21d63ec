package prompt

import (
	"context"
	"fmt"
	"strings"
)

// fillers add few tokens each. The first is one token in every tokeniser of words
// met so far; the others are for tokenisers of bytes or of another script.
//
//nolint:gochecknoglobals // a constant list; Go has no constant slices
var fillers = [...]string{" a", "a", " the", ".", " 0"}

// fillTries bounds the counts with one filler.
const fillTries = 8

// fewTokens are filled up without a look at the piece that comes next.
const fewTokens = 2

// filling is one text on its way to its length.
type filling struct {
	count Counter
	want  int
	least int // the fewest tokens over want that were seen; 0: none
}

// fill brings a text of fewer than n tokens to n exactly: by the beginning of the
// piece that comes next, then by small fillers.
func (m Texts) fill(ctx context.Context, text, next string, n int) (string, error) {
	f := &filling{count: m.Count, want: n}
	c, err := m.Count(ctx, text)
	if err != nil {
		return "", err
	}
	if c > n {
		return "", fmt.Errorf("no text of exactly %d tokens was found: the server counts %d in %d bytes; try another length or text", n, c, len(text))
	}
	if c == n {
		return text, nil
	}
	if n-c > fewTokens {
		if text, c, err = f.part(ctx, text, next, c); err != nil || c == n {
			return text, err
		}
	}
	for _, filler := range fillers {
		out, ok, err := f.by(ctx, text, filler, c)
		if err != nil || ok {
			return out, err
		}
	}
	if f.least > 0 {
		return "", fmt.Errorf("no text of exactly %d tokens was found: the server counts %d and, with a word or letter more, %d; try another length or text", n, c, f.least)
	}
	return "", fmt.Errorf("no text of exactly %d tokens was found: the server counts %d, however many words are added; try another length or text", n, c)
}

// part adds runes of a piece while the count stays at or below the one wanted.
func (f *filling) part(ctx context.Context, text, piece string, c int) (string, int, error) {
	runes := []rune(piece)
	low, high := 0, len(runes)
	best := text
	for high-low > 1 && c < f.want {
		k := (low + high) / 2
		try := strings.TrimLeft(text+string(runes[:k]), " ")
		n, err := f.count(ctx, try)
		if err != nil {
			return "", 0, err
		}
		if n > f.want {
			high = k
			continue
		}
		low = k
		if n >= c {
			best, c = try, n
		}
	}
	return best, c, nil
}

// by adds a filler as often as the count asks, and less often where a filler
// turned out to be more than one token.
func (f *filling) by(ctx context.Context, text, filler string, c int) (string, bool, error) {
	low, high := 0, 1<<30 // times that are known to be too few, and too many
	for times, tries := f.want-c, 0; low < times && times < high && tries < fillTries; tries++ {
		try := strings.TrimLeft(text+strings.Repeat(filler, times), " ")
		n, err := f.count(ctx, try)
		if err != nil || n == f.want {
			return try, err == nil, err
		}
		next := times + f.want - n
		if n > f.want {
			high, next = times, times*(f.want-c)/(n-c) // as many tokens a filler as these had
			if f.least == 0 || n < f.least {
				f.least = n
			}
		} else {
			low = times
		}
		if next <= low || next >= high {
			next = (low + high) / 2
		}
		times = next
	}
	return "", false, nil
}
