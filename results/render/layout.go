package render

import "strings"

// width is the columns that a text takes on a terminal.
func width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// runeWidth is 2 for the wide characters of East Asia and for pictures.
func runeWidth(r rune) int {
	switch {
	case r >= 0x1100 && r <= 0x115f, r >= 0x2e80 && r <= 0xa4cf, r >= 0xac00 && r <= 0xd7a3, r >= 0xf900 && r <= 0xfaff,
		r >= 0xfe30 && r <= 0xfe6f, r >= 0xff00 && r <= 0xff60, r >= 0x1f300 && r <= 0x1faff, r >= 0x20000 && r <= 0x3fffd:
		return 2
	}
	return 1
}

func pad(s string, to int, left bool) string {
	blanks := strings.Repeat(" ", max(0, to-width(s)))
	if left {
		return s + blanks
	}
	return blanks + s
}

// glue is a blank at which no line is broken.
const glue = "\u00a0"

// wrap breaks a text at blanks into lines of at most so many columns; a word that
// is longer is broken where the line ends. A per cent sign stays with its number.
func wrap(s string, columns int) []string {
	columns = max(columns, 10)
	var lines []string
	line, used := "", 0
	flush := func() { lines, line, used = append(lines, strings.ReplaceAll(line, glue, " ")), "", 0 }
	for word := range strings.SplitSeq(strings.ReplaceAll(s, " %", glue+"%"), " ") {
		if word == "" {
			continue
		}
		if used > 0 && used+1+width(word) > columns {
			flush()
		}
		if used > 0 {
			line, used = line+" ", used+1
		}
		for _, r := range word {
			if used+runeWidth(r) > columns {
				flush()
			}
			line, used = line+string(r), used+runeWidth(r)
		}
	}
	if used > 0 || len(lines) == 0 {
		flush()
	}
	return lines
}

// ascii writes a text without any character beyond ASCII.
func ascii(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r == '\u00a0':
			b.WriteByte(' ')
		case r == '–' || r == '·' || r == '—':
			b.WriteByte('-')
		case r == '×':
			b.WriteByte('x')
		case r == '†':
			b.WriteByte('+')
		case r == '█':
			b.WriteByte('#')
		case r == 'µ':
			b.WriteByte('u')
		case r >= '▉' && r <= '▏': // less than a whole column of a bar
		default:
			b.WriteByte('?')
		}
	}
	return b.String()
}
