package record

import (
	"strings"
	"unicode"
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
