package prompt

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func seed(n int) [32]byte { return sha256.Sum256(fmt.Append(nil, n)) }

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = 5000 + i
	}
	return out
}

// Whatever the parts, an input has its length, its special tokens at their ends
// and, between them, ids that were allowed; the same seed gives the same.
func TestIDsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		special := rapid.SliceOfN(rapid.IntRange(1, 200), 0, 4)
		prefix, suffix := special.Draw(t, "prefix"), special.Draw(t, "suffix")
		corpus := rapid.SliceOfN(rapid.IntRange(30_000, 30_200), 0, 300).Draw(t, "corpus")
		vocabulary := rapid.SampledFrom([]int{0, 2, 500, 1001, 1002, 32_000, 150_000}).Draw(t, "vocabulary")
		m := NewIDs(prefix, suffix, corpus, vocabulary)
		n := m.Least() + rapid.IntRange(0, 3000).Draw(t, "over the least")
		s := seed(rapid.Int().Draw(t, "seed"))
		in, err := m.Input(s, n)
		if err != nil || len(in) != n {
			t.Fatalf("%d ids for %d, %v", len(in), n, err)
		}
		if !slices.Equal(in[:len(prefix)], prefix) || !slices.Equal(in[n-len(suffix):], suffix) {
			t.Fatalf("the special tokens are not at the ends: %v", in)
		}
		for _, id := range in[len(prefix) : n-len(suffix)] {
			if vocabulary > 0 && id >= vocabulary && !slices.Contains(corpus, id) {
				t.Fatalf("id %d, the vocabulary has %d", id, vocabulary)
			}
		}
		again, _ := m.Input(s, n)
		if !slices.Equal(in, again) {
			t.Fatal("the same seed gave other ids")
		}
	})
}

func TestIDsTooShort(t *testing.T) {
	m := NewIDs([]int{1}, []int{2, 3}, nil, 0)
	for n := range 4 {
		if _, err := m.Input(seed(1), n); err == nil || !strings.Contains(err.Error(), "the least is 4") {
			t.Errorf("%d: %v", n, err)
		}
	}
	if in, err := m.Input(seed(1), 4); err != nil || len(in) != 4 {
		t.Errorf("%v, %v", in, err)
	}
}

// No two requests share a first block, so that no prefix cache can answer: also
// where the text says the same word over and over.
func TestFirstBlocksDiffer(t *testing.T) {
	same := make([]int, 5000)
	for i := range same {
		same[i] = 7
	}
	skewed := append(slices.Clone(same), upTo(80)...)
	for name, corpus := range map[string][]int{"seeded": nil, "text": upTo(400), "one word": same, "few words": append(slices.Clone(same), 8, 9), "one word and a few": skewed} {
		m := NewIDs([]int{101}, []int{102}, corpus, 0)
		seen := map[[16]int]int{}
		for i := range 20_000 {
			in, err := m.Input(seed(i), 64)
			if err != nil {
				t.Fatal(err)
			}
			block := [16]int(in)
			if j, ok := seen[block]; ok {
				t.Errorf("%s: inputs %d and %d begin alike: %v", name, i, j, block)
				break
			}
			seen[block] = i
		}
	}
}

// Behind the drawn tokens the text goes on in its order.
func TestIDsKeepTheText(t *testing.T) {
	corpus := upTo(1000)
	in, err := NewIDs(nil, nil, corpus, 0).Input(seed(3), 500)
	if err != nil {
		t.Fatal(err)
	}
	for i := nonceTokens + 1; i < len(in); i++ {
		if in[i] != in[i-1]+1 && (in[i-1] != corpus[999] || in[i] != corpus[0]) {
			t.Fatalf("at %d the text breaks off: %d after %d", i, in[i], in[i-1])
		}
	}
}

func TestSplitSpecials(t *testing.T) {
	for _, tt := range []struct {
		with, bare, prefix, suffix []int
		ok                         bool
	}{
		{[]int{101, 7, 8, 102}, []int{7, 8}, []int{101}, []int{102}, true},
		{[]int{7, 8}, []int{7, 8}, nil, nil, true},
		{[]int{1, 7}, []int{7}, []int{1}, nil, true},
		{[]int{7, 8, 2}, []int{7, 8}, nil, []int{2}, true},
		{[]int{101, 9, 102}, []int{7}, nil, nil, false},
		{[]int{7}, []int{7, 8}, nil, nil, false},
	} {
		prefix, suffix, ok := SplitSpecials(tt.with, tt.bare)
		if ok != tt.ok || !slices.Equal(prefix, tt.prefix) || !slices.Equal(suffix, tt.suffix) {
			t.Errorf("%v in %v: %v, %v, %t", tt.bare, tt.with, prefix, suffix, ok)
		}
	}
}
