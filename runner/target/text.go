package target

import (
	"strings"

	"rung/sinks/record"
)

// Excerpt is at most n bytes of untrusted text: valid UTF-8, on one line, without
// control or direction-changing characters.
func Excerpt(b []byte, n int) string {
	return strings.TrimSpace(record.OneLine(record.Clip(string(b), n)))
}

// said is an excerpt of what a server said, without the secrets that it was sent.
func (c *Client) said(b []byte, n int) string {
	const beyond = 8 << 10 // so that a secret that the cut would halve is found
	return Excerpt(c.scrub.Clean(b[:min(len(b), n+beyond)]), n)
}
