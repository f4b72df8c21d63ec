package spec

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Escape sequences of a terminal.
const (
	boldRed    = "\x1b[1;31m"
	boldYellow = "\x1b[1;33m"
	underline  = "\x1b[4m"
	plain      = "\x1b[0m"
)

// Render writes the diagnostics for a person: the phrase, the place, the lines of
// the file, then the detail wrapped at width columns (0: not wrapped). With colour
// the subject is underlined, without it is marked by a line of carets. Where there are
// several, their number comes last.
func (d Diagnostics) Render(w io.Writer, width int, color bool) error {
	var b strings.Builder
	for _, one := range d {
		one.render(&b, width, color)
	}
	if len(d) > 1 {
		fmt.Fprintf(&b, "%s\n", d.counts())
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("diagnostics: %w", err)
	}
	return nil
}

// counts says how many there are, as "1 error, 3 warnings".
func (d Diagnostics) counts() string {
	var out []string
	for _, c := range []struct {
		n    int
		word string
	}{{d.Errors(), "error"}, {d.Warnings(), "warning"}} {
		switch {
		case c.n == 1:
			out = append(out, "1 "+c.word)
		case c.n > 1:
			out = append(out, fmt.Sprintf("%d %ss", c.n, c.word))
		}
	}
	return strings.Join(out, ", ")
}

func (d Diagnostic) render(b *strings.Builder, width int, color bool) {
	word, paint := "Error", boldRed
	if d.Severity == Warning {
		word, paint = "Warning", boldYellow
	}
	if color {
		word = paint + word + plain
	}
	fmt.Fprintf(b, "%s: %s\n\n", word, d.Summary)
	if place := d.place(); place != "" {
		fmt.Fprintf(b, "  on %s:\n", place)
		for _, l := range d.Excerpt {
			l.render(b, width, color)
		}
		b.WriteByte('\n')
	}
	for _, l := range Wrap(d.Detail, width) {
		fmt.Fprintf(b, "%s\n", l)
	}
	if d.Detail != "" {
		b.WriteByte('\n')
	}
}

// place says where, as far as it is known.
func (d Diagnostic) place() string {
	switch {
	case d.File == "":
		return ""
	case d.Start == nil:
		return d.File
	case d.Block == "":
		return fmt.Sprintf("%s line %d", d.File, d.Start.Line)
	default:
		return fmt.Sprintf("%s line %d, in %s", d.File, d.Start.Line, d.Block)
	}
}

func (l Line) render(b *strings.Builder, width int, color bool) {
	text := []rune(l.Text)
	from, to := min(l.From, len(text)), min(l.To, len(text))
	const gutter = 6
	if room := width - gutter; width > 0 && room > 0 && len(text) > room {
		skip := min(max(0, from-room/3), len(text)-room)
		text = text[skip : skip+room]
		from, to = max(0, from-skip), max(0, min(to-skip, room))
	}
	if color {
		fmt.Fprintf(b, "%4d: %s%s%s%s%s\n", l.Number, string(text[:from]), underline, string(text[from:to]), plain, string(text[to:]))
		return
	}
	fmt.Fprintf(b, "%4d: %s\n", l.Number, string(text))
	fmt.Fprintf(b, "%s%s\n", strings.Repeat(" ", gutter+from), strings.Repeat("^", max(1, to-from)))
}

// Wrap breaks a text at spaces so that no line is longer than width, where a word
// allows it.
func Wrap(s string, width int) []string {
	if s == "" {
		return nil
	}
	if width <= 0 {
		return strings.Split(s, "\n")
	}
	var out []string
	for para := range strings.SplitSeq(s, "\n") {
		line, n := "", 0
		for word := range strings.FieldsSeq(para) {
			w := utf8.RuneCountInString(word)
			if n > 0 && n+1+w > width {
				out = append(out, line)
				line, n = "", 0
			}
			if n > 0 {
				line, n = line+" ", n+1
			}
			line, n = line+word, n+w
		}
		out = append(out, line)
	}
	return out
}
