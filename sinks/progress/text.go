package progress

import (
	"fmt"
	"strings"
	"unicode"

	"rung/sinks/record"
)

// dot stands between the parts of a line.
func (s *Sink) dot() string {
	if s.o.UTF8 {
		return " · "
	}
	return " | "
}

// plain makes text fit for a terminal: on one line, without control or
// direction-changing characters, whoever said it, and in ASCII where the locale
// has no more.
func (s *Sink) plain(text string) string {
	text = record.OneLine(text)
	if s.o.UTF8 {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r > unicode.MaxASCII {
			return '?'
		}
		return r
	}, text)
}

// fit cuts a text to so many cells of a terminal.
func fit(text string, cells int) string {
	used := 0
	for i, r := range text {
		used += width(r)
		if used > cells {
			return text[:i]
		}
	}
	return text
}

// width is at least the cells that a rune takes: from the Hangul letters on they
// may be two.
func width(r rune) int {
	if r >= 0x1100 {
		return 2
	}
	return 1
}

// span is a time in the unit that a person reads: "12.3 ms", "1.23 s".
func span(seconds float64) string {
	if seconds < 1 {
		return digits(seconds*1000) + " ms"
	}
	return digits(seconds) + " s"
}

// digits shows three figures.
func digits(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}
