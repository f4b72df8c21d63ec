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

// said is an excerpt of what a server said, without the secrets that it was sent.
func (c *Client) said(b []byte, n int) string {
	const beyond = 8 << 10 // so that a secret that the cut would halve is found
	return Excerpt(c.scrub.Clean(b[:min(len(b), n+beyond)]), n)
}
