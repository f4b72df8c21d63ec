package prompt

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// Tokenisers that are none: each counts as one kind of server does.

func countWords(text string) int { return len(strings.Fields(text)) }

func countBytes(text string) int { return len(text) }

func countRunes(text string) int { return utf8.RuneCountInString(text) }

// countPairs is like byte-pair encoding: letters go in threes within a word, an
// "e" that ends one is a token of its own, and words of one letter merge with
// each other, so that counts jump and what is added can take tokens away.
func countPairs(text string) int {
	n, single := 0, false
	for w := range strings.FieldsSeq(text) {
		runes := utf8.RuneCountInString(w)
		if runes == 1 && single {
			single = false // merged with the one before
			continue
		}
		single = runes == 1
		n += (runes + 2) / 3
		if strings.HasSuffix(w, "e") {
			n++
		}
	}
	return n
}

// countIdeographs has a token for each ideograph, and words for the rest.
func countIdeographs(text string) int {
	n, inWord := 0, false
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Han, r) || unicode.IsPunct(r):
			n, inWord = n+1, false
		case unicode.IsSpace(r):
			inWord = false
		case !inWord:
			n, inWord = n+1, true
		}
	}
	return n
}

func counter(overhead int, count func(string) int, calls *int) Counter {
	return func(_ context.Context, text string) (int, error) {
		*calls++
		return overhead + count(text), nil
	}
}

const (
	english = "It was the best of times, it was the worst of times; an incomprehensibilities-laden age of wisdom, a b c d e f g and of foolishness."
	chinese = "机器学习模型的推理服务器在高并发下的表现需要精确测量。我们逐步提高批量大小，记录每一个请求的延迟与显存占用，直到服务器失败为止。"
)

// Every length from the least on is met exactly, with few counts, whatever the
// tokeniser; the same seed gives the same text.
func TestTextsAreExact(t *testing.T) {
	tokenisers := map[string]func(string) int{"words": countWords, "bytes": countBytes, "runes": countRunes, "pairs": countPairs, "ideographs": countIdeographs}
	for name, count := range tokenisers {
		for corpus, text := range map[string]string{"none": "", "english": english, "chinese": chinese} {
			t.Run(name+"/"+corpus, func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) {
					overhead := rapid.IntRange(0, 12).Draw(t, "overhead")
					calls := 0
					m := Texts{Pieces: Split(text), Count: counter(overhead, count, &calls), Overhead: overhead}
					n := m.Least() + rapid.IntRange(0, 900).Draw(t, "over the least")
					s := seed(rapid.IntRange(0, 1<<20).Draw(t, "seed"))
					got, err := m.Input(t.Context(), s, n)
					if err != nil {
						t.Fatal(err)
					}
					if c := overhead + count(got); c != n {
						t.Fatalf("%d tokens, want %d: %q", c, n, got)
					}
					if calls > 25 {
						t.Errorf("%d counts for %d tokens: each is a call of the server", calls, n)
					}
					again, _ := m.Input(t.Context(), s, n)
					if again != got || !utf8.ValidString(got) || strings.HasPrefix(got, " ") {
						t.Fatalf("not the same again, or not as a text should be: %q, %q", got, again)
					}
				})
			})
		}
	}
}

// A prompt of a corpus is the corpus, to its last tokens but a few.
func TestTextsAreTheCorpus(t *testing.T) {
	for name, count := range map[string]func(string) int{"bytes": countBytes, "runes": countRunes, "ideographs": countIdeographs} {
		calls := 0
		m := Texts{Pieces: Split(chinese), Count: counter(0, count, &calls)}
		for i := range 50 {
			got, err := m.Input(t.Context(), seed(i), 600)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(got, " a a a") || strings.HasSuffix(got, "aaa") {
				t.Errorf("%s: filling words in %q", name, got[len(got)-60:])
			}
		}
	}
}

// A text whose words are not all alike is cut with few counts: the search must not
// creep along it.
func TestUnevenTexts(t *testing.T) {
	var pieces []string
	for range 600 {
		pieces = append(pieces, " few")
	}
	for range 300 {
		pieces = append(pieces, " many")
	}
	most := 0
	for i := range 200 {
		calls := 0
		m := Texts{Pieces: pieces, Count: counter(0, func(s string) int { return countWords(s) + 99*strings.Count(s, "many") }, &calls)}
		if _, err := m.Input(t.Context(), seed(i), 700+i); err != nil {
			t.Fatal(err)
		}
		most = max(most, calls)
	}
	if most > 30 {
		t.Errorf("%d counts for one text", most)
	}
}

func TestTextsBeginDifferently(t *testing.T) {
	calls := 0
	m := Texts{Pieces: Split("same same same"), Count: counter(0, countWords, &calls)}
	seen := map[string]int{}
	for i := range 20_000 {
		got, err := m.Input(t.Context(), seed(i), 16)
		if err != nil {
			t.Fatal(err)
		}
		if j, ok := seen[got]; ok {
			t.Fatalf("inputs %d and %d are alike: %q", i, j, got)
		}
		seen[got] = i
	}
}

func TestTextsTooShort(t *testing.T) {
	m := Texts{Overhead: 11, Count: counter(11, countWords, new(int))}
	if _, err := m.Input(t.Context(), seed(1), 11); err == nil || !strings.Contains(err.Error(), "the least is 12") {
		t.Error(err)
	}
}

// A count that no text meets is an error after a bounded number of counts.
func TestImpossibleCounts(t *testing.T) {
	for name, count := range map[string]func(string) int{
		"only even": func(s string) int { return 2 * countWords(s) },
		"constant":  func(string) int { return 3 },
		"too many":  func(string) int { return 1000 },
		"none":      func(string) int { return 0 },
		"shrinking": func(s string) int { return max(0, 100-len(s)) },
	} {
		calls := 0
		m := Texts{Pieces: Split(english), Count: counter(0, count, &calls)}
		got, err := m.Input(t.Context(), seed(1), 101)
		if err == nil || !strings.Contains(err.Error(), "exactly 101 tokens") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if calls > 120 {
			t.Errorf("%s: %d counts", name, calls)
		}
	}
}

func TestCounterFails(t *testing.T) {
	gone := errors.New("gone")
	for after := range 4 {
		calls := 0
		m := Texts{Count: func(_ context.Context, text string) (int, error) {
			if calls++; calls > after {
				return 0, gone
			}
			return 2 * countWords(text), nil
		}}
		if _, err := m.Input(t.Context(), seed(1), 51); !errors.Is(err, gone) {
			t.Errorf("after %d counts: %v", after, err)
		}
	}
}

// Split gives a text back, its blanks folded, in pieces that are small enough to
// cut at.
func TestSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`([a-z]{1,30}[ \n\t]{0,3}|[机器学习]{1,40}|\x{3000})*`)).Draw(t, "text")
		pieces := Split(text)
		want := strings.Join(strings.Fields(text), " ")
		if got := strings.TrimPrefix(strings.Join(pieces, ""), " "); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
		for _, p := range pieces {
			if n := utf8.RuneCountInString(p); n == 0 || n > pieceRunes+1 {
				t.Fatalf("piece %q", p)
			}
		}
	})
}

// The built-in words are what they are taken for: distinct, plain and short.
func TestWords(t *testing.T) {
	seen := map[string]bool{}
	for _, w := range words {
		if seen[w] || len(w) > 4 || len(w) < 3 || strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") != "" {
			t.Errorf("%q", w)
		}
		seen[w] = true
	}
}
