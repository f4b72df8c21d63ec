package target

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Excerpt is at most n bytes of untrusted text: valid UTF-8, on one line, without
// control or direction-changing characters.
func Excerpt(b []byte, n int) string {
	if len(b) > n {
		b = b[:n]
		for len(b) > 0 && !utf8.RuneStart(b[len(b)-1]) {
			b = b[:len(b)-1]
		}
		if len(b) > 0 && !utf8.FullRune(b[len(b)-1:]) {
			b = b[:len(b)-1]
		}
	}
	clean := strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(string(b), "\uFFFD"))
	return strings.TrimSpace(clean)
}
