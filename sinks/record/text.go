package record

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// OneLine makes untrusted text fit to be shown: on one line, without control or
// direction-changing characters.
func OneLine(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, text)
}

// Clip makes untrusted text valid UTF-8 of at most n bytes.
func Clip(text string, n int) string {
	return cut(strings.ToValidUTF8(cut(text, n), "\uFFFD"), n) // the replacement may be longer than what it replaces
}

// cut shortens a text to n bytes, and leaves no half of a character behind.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	end := n
	for end > max(0, n-utf8.UTFMax) && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
