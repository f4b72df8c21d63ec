package target

import (
	"strings"
	"unicode/utf8"

	"rung/sinks/record"
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
	return strings.TrimSpace(record.OneLine(strings.ToValidUTF8(string(b), "\uFFFD")))
}
