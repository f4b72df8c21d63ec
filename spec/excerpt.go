package spec

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
)

// Bounds on an excerpt: what a person reads, whatever the file is.
const (
	maxExcerptLines = 5
	maxExcerptWidth = 160 // characters of one line
	minSecret       = 6   // a shorter value would be found in half of all words
)

// masked stands for what is not shown.
const masked = "(sensitive)"

// span is a range of bytes.
type span struct{ from, to int }

// excerpts cuts lines out of a source.
type excerpts struct {
	src     []byte
	starts  []int // of each line
	hidden  []span
	secrets *strings.Replacer
}

func newExcerpts(src []byte, hidden []span, secrets []string) *excerpts {
	e := &excerpts{src: src, starts: []int{0}, hidden: merged(hidden)}
	for i, c := range src {
		if c == '\n' {
			e.starts = append(e.starts, i+1)
		}
	}
	var pairs []string
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // the longest first
	for _, s := range slices.Compact(secrets) {
		if len(s) >= minSecret {
			pairs = append(pairs, s, masked)
		}
	}
	e.secrets = strings.NewReplacer(pairs...)
	return e
}

// merged puts spans in order, those that touch as one.
func merged(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var out []span
	for _, s := range spans {
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

// scrub removes the known secrets from a text. Nothing should have put one there:
// this is the second lock on the door.
func (e *excerpts) scrub(s string) string { return e.secrets.Replace(s) }

// lines gives the lines of a range.
func (e *excerpts) lines(rng hcl.Range) []Line {
	from, to := clamp(rng.Start.Byte, len(e.src)), clamp(rng.End.Byte, len(e.src))
	first := sort.SearchInts(e.starts, from+1) - 1
	var out []Line
	for n := first; n < len(e.starts) && len(out) < maxExcerptLines; n++ {
		begin := e.starts[n]
		if n > first && begin >= to {
			break
		}
		end := len(e.src)
		if n+1 < len(e.starts) {
			end = e.starts[n+1] - 1
		}
		out = append(out, e.line(n+1, span{begin, end}, span{max(from, begin), min(to, end)}))
	}
	return out
}

func clamp(n, most int) int { return max(0, min(n, most)) }

// line shows one line with the subject within it. A part far from the subject is
// cut away.
func (e *excerpts) line(number int, whole, subject span) Line {
	whole.to = min(whole.to, max(subject.from, whole.from)+4*maxExcerptWidth)
	cut := ""
	if subject.from-whole.from > maxExcerptWidth {
		whole.from = e.boundary(subject.from - maxExcerptWidth/4)
		cut = "..."
	}
	subject.to = max(subject.from, min(subject.to, whole.to))
	before := cut + e.show(span{whole.from, subject.from})
	middle := e.show(subject)
	after := e.show(span{subject.to, whole.to})
	if strings.Contains(middle, masked) { // a hidden part around the subject is one
		before, after = strings.TrimSuffix(before, masked), strings.TrimPrefix(after, masked)
	}
	from := utf8.RuneCountInString(before)
	text := []rune(before + middle + after)
	to := from + max(1, utf8.RuneCountInString(middle))
	if len(text) > maxExcerptWidth {
		text = append(text[:maxExcerptWidth-3], '.', '.', '.')
	}
	return Line{Number: number, Text: e.scrub(string(text)), From: min(from, len(text)), To: min(to, max(len(text), from+1))}
}

// boundary moves an offset to the start of a character.
func (e *excerpts) boundary(at int) int {
	for at > 0 && at < len(e.src) && !utf8.RuneStart(e.src[at]) {
		at--
	}
	return at
}

// show gives a part of the source without what is hidden in it.
func (e *excerpts) show(s span) string {
	var b strings.Builder
	at := s.from
	first := sort.Search(len(e.hidden), func(i int) bool { return e.hidden[i].to > s.from })
	for _, h := range e.hidden[first:] {
		if h.from >= s.to {
			break
		}
		b.WriteString(printable(string(e.src[at:max(at, h.from)])))
		b.WriteString(masked)
		at = min(h.to, s.to)
	}
	if at < s.to {
		b.WriteString(printable(string(e.src[at:s.to])))
	}
	return b.String()
}

// printable replaces what could move a terminal's cursor or hide text on it.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r == '\n':
			return r
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			return unicode.ReplacementChar
		default:
			return r
		}
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
}
