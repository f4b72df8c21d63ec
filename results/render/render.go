package render

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"rung/results"
)

// Options say what the reader's side can show.
type Options struct {
	Width int  // columns; 0 is 100
	UTF8  bool // without it the output is pure ASCII
	Color bool // ANSI colours
}

const (
	defaultWidth = 100
	leastWidth   = 40
)

func (o Options) width() int {
	if o.Width <= 0 {
		return defaultWidth
	}
	return max(o.Width, leastWidth)
}

// JSON writes the report itself. Control and bidirectional characters are
// escaped, so that a terminal that shows it takes no harm.
func JSON(w io.Writer, rep *results.Report, _ Options) error { return printJSON(w, rep) }

// printJSON writes a value for a program, harmless to a terminal.
func printJSON(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("render JSON: %w", err)
	}
	var out strings.Builder
	for _, r := range string(b) {
		if r != '\n' && hostile(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	out.WriteByte('\n')
	_, err = io.WriteString(w, out.String())
	return err
}

// hostile says that a character can make a text look like another, or move a
// terminal's cursor: controls and what sets the direction of writing.
func hostile(r rune) bool {
	switch {
	case unicode.IsControl(r):
		return true
	case r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	case r == 0x2028, r == 0x2029, r == 0xfeff:
		return true
	case r == 0xfffe, r == 0xffff: // which XML forbids
		return true
	}
	return false
}

// safe makes hostile characters visible; a line break or a tab becomes a blank.
func safe(s string) string { return neutral(s, false) }

// safeLines is safe for texts of several lines.
func safeLines(s string) string { return neutral(strings.ReplaceAll(s, "\r\n", "\n"), true) }

func neutral(s string, lines bool) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteRune(utf8.RuneError)
		case lines && (r == '\n' || r == '\t'):
			b.WriteRune(r)
		case r == '\n' || r == '\t' || r == '\r':
			b.WriteByte(' ')
		case hostile(r):
			fmt.Fprintf(&b, "\\u%04x", r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}
