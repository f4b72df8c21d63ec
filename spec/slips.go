package spec

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// maxOpenQuotes bounds how often a file is read again without a line.
const maxOpenQuotes = 20

// closeQuotes reports the quotes that are not closed on their line, each where it was
// opened, and gives the tokens of the file without those lines: what is read after
// such a quote takes texts for words and words for texts, line after line. It is
// false where the line can't be left out, for a block begins or ends in it.
func (l *loader) closeQuotes() (hclsyntax.Tokens, bool) {
	l.parsed = l.src
	for range maxOpenQuotes {
		tokens, _ := hclsyntax.LexConfig(l.parsed, l.path, hcl.InitialPos) // the parser reports what is invalid
		quote, end := openQuote(tokens)
		if end < 0 {
			return tokens, true
		}
		l.hide(tokens[:end+1])
		rng := hcl.RangeBetween(quote.Range, tokens[end-1].Range)
		l.errorAt(rng, sumOpenQuote, "%s", whyOpenQuote)
		if !l.leaveOut(quote.Range.Start, tokens[end].Range.Start) {
			return nil, false
		}
	}
	return nil, false
}

const whyOpenQuote = `The quote that opens here is not closed on its line. A text with line ends has them as \n, or is a heredoc (<<EOT).`

// openQuote finds the first text in quotes that goes on past its line: its quote, and
// the index of the token that ends the line; -1 where there is none.
func openQuote(tokens hclsyntax.Tokens) (hclsyntax.Token, int) {
	var open hclsyntax.Tokens
	for i, t := range tokens {
		switch {
		case t.Type == hclsyntax.TokenOQuote:
			open = append(open, t)
		case t.Type == hclsyntax.TokenCQuote && len(open) > 0:
			open = open[:len(open)-1]
		case t.Type == hclsyntax.TokenQuotedNewline && len(open) > 0:
			return open[len(open)-1], i
		}
	}
	return hclsyntax.Token{}, -1
}

// leaveOut blanks the line in which a quote opens, up to the line's end.
func (l *loader) leaveOut(quote, end hcl.Pos) bool {
	from := bytes.LastIndexByte(l.parsed[:quote.Byte], '\n') + 1
	line := l.parsed[from:end.Byte]
	if bytes.IndexByte(line, '\n') >= 0 || !evenBrackets(line) {
		return false
	}
	l.parsed = bytes.Clone(l.parsed)
	copy(l.parsed[from:end.Byte], bytes.Repeat([]byte{' '}, len(line)))
	return true
}

// evenBrackets says that a line leaves no bracket open, and closes none before it.
func evenBrackets(line []byte) bool {
	depth := 0
	for _, c := range line {
		if strings.IndexByte("([{", c) >= 0 {
			depth++
		}
		if strings.IndexByte(")]}", c) >= 0 {
			depth--
		}
		if depth < 0 {
			return false
		}
	}
	return depth == 0
}

// numbersWithUnits reports numbers with letters behind them, as 512k or 3s, and takes
// the letters away, so that the rest of the line is read. What else would be said of
// the line follows from that.
func (l *loader) numbersWithUnits(tokens hclsyntax.Tokens) {
	for i := 1; i < len(tokens); i++ {
		n, unit := tokens[i-1], tokens[i]
		if n.Type != hclsyntax.TokenNumberLit || unit.Type != hclsyntax.TokenIdent || n.Range.End.Byte != unit.Range.Start.Byte {
			continue
		}
		l.errorAt(hcl.RangeBetween(n.Range, unit.Range), sumNumberUnit, "%s%s is no number. %s", clip(string(n.Bytes)), clip(string(unit.Bytes)),
			insteadOf(string(n.Bytes), string(unit.Bytes)))
		l.slips[n.Range.Start.Line] = true
		l.parsed = bytes.Clone(l.parsed)
		copy(l.parsed[unit.Range.Start.Byte:unit.Range.End.Byte], bytes.Repeat([]byte{' '}, len(unit.Bytes)))
	}
}

// insteadOf says how a number with a unit is written.
func insteadOf(number, unit string) string {
	switch lower := strings.ToLower(unit); {
	case lower == "k" && len(number) < 12 && !strings.ContainsAny(number, ".eE"):
		return fmt.Sprintf("Write %s000 or %s * 1000.", number, number)
	case lower == "k":
		return fmt.Sprintf("Write %s * 1000.", clip(number))
	case unit == "M":
		return fmt.Sprintf("Write %s * 1000000.", clip(number))
	case unit == "ns" || unit == "us" || unit == "ms" || unit == "s" || unit == "m" || unit == "h":
		return fmt.Sprintf("A time stands in quotes: %q.", clip(number+unit))
	case strings.HasSuffix(lower, "b"):
		return `A size stands in quotes, as "16GiB".`
	default:
		return "A text stands in quotes."
	}
}
