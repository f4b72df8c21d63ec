package spec

import (
	"bytes"
	"regexp"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// hide finds what an excerpt must not show: the values in variables that say
// anything of "sensitive", and the arguments of env(). It goes by the tokens, not
// by the syntax tree, because an error of syntax in the very block would leave it
// out of the tree and in the excerpt.
func (l *loader) hide(tokens hclsyntax.Tokens) {
	for i := range tokens {
		switch {
		case isIdent(tokens[i], "variable"):
			l.hideInVariable(tokens[i:blockEnd(tokens, i)])
		case isIdent(tokens[i], "env"):
			l.hideEnvDefault(tokens, i)
		}
	}
}

func isIdent(t hclsyntax.Token, name string) bool {
	return t.Type == hclsyntax.TokenIdent && string(t.Bytes) == name
}

// blockEnd is the index after the block that begins at i, found by its braces.
func blockEnd(tokens hclsyntax.Tokens, i int) int {
	depth := 0
	for ; i < len(tokens); i++ {
		switch tokens[i].Type {
		case hclsyntax.TokenOBrace:
			depth++
		case hclsyntax.TokenCBrace:
			if depth--; depth == 0 {
				return i + 1
			}
		case hclsyntax.TokenNewline:
			if depth == 0 {
				return i
			}
		default:
		}
	}
	return i
}

func (l *loader) hideInVariable(block hclsyntax.Tokens) {
	sensitive := false
	for _, t := range block {
		sensitive = sensitive || t.Type == hclsyntax.TokenIdent && isSensitiveWord(string(t.Bytes))
	}
	if !sensitive {
		return
	}
	for i := 0; i+2 < len(block); i++ { // a name, =, and a value
		if isAttr(block[i:]) && !slices.Contains(openInVariable(), string(block[i].Bytes)) {
			end := valueEnd(block, i+2)
			l.hidden = append(l.hidden, span{block[i+1].Range.End.Byte, block[end].Range.Start.Byte})
		}
	}
}

// openInVariable are the attributes of a sensitive variable that hold no value of
// it, those of its validation too.
func openInVariable() []string {
	return []string{"type", "sensitive", "description", "condition", "error_message"}
}

// isAttr says that the tokens begin an attribute; one whose name is a slip of
// default holds the secret too.
func isAttr(t hclsyntax.Tokens) bool {
	return t[0].Type == hclsyntax.TokenIdent && t[1].Type == hclsyntax.TokenEqual
}

// valueEnd is the index of the token that ends the value beginning at i: a newline
// outside all brackets, or the last token.
func valueEnd(tokens hclsyntax.Tokens, i int) int {
	depth := 0
	for ; i < len(tokens)-1; i++ {
		if _, ok := opens(tokens[i].Type); ok {
			depth++
		} else if closes(tokens[i].Type) {
			depth--
		}
		if depth < 0 || depth == 0 && endsLine(tokens[i]) {
			return i
		}
	}
	return i
}

// endsLine: a comment to the end of its line takes the newline with it.
func endsLine(t hclsyntax.Token) bool {
	return t.Type == hclsyntax.TokenNewline || t.Type == hclsyntax.TokenComment && bytes.HasSuffix(t.Bytes, []byte("\n"))
}

func closes(t hclsyntax.TokenType) bool {
	switch t {
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen, hclsyntax.TokenCQuote,
		hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
		return true
	default:
		return false
	}
}

// hideEnvDefault hides what follows the comma in env(name, default).
func (l *loader) hideEnvDefault(tokens hclsyntax.Tokens, i int) {
	comma := 0
	for j := i + 1; j < len(tokens) && j < i+12; j++ {
		if tokens[j].Type == hclsyntax.TokenComma && comma == 0 {
			comma = j
		}
	}
	if i+1 >= len(tokens) || tokens[i+1].Type != hclsyntax.TokenOParen || comma == 0 {
		return
	}
	end := valueEnd(tokens, comma+1)
	l.hidden = append(l.hidden, span{tokens[comma].Range.End.Byte, tokens[end].Range.Start.Byte})
}

// hideDefaults is for a file with errors of syntax, in which the tokens may lie. It
// goes by lines: of what looks like a block variable, only the first word of each
// line is shown, and a whole line only where that is sensitive or description.
func (l *loader) hideDefaults() {
	word := regexp.MustCompile(`^[ \t]*([A-Za-z_]*)`)
	inside, from := false, 0
	for line := range bytes.SplitSeq(l.src, []byte("\n")) {
		to := from + len(line)
		m := word.FindSubmatchIndex(line)
		first := string(line[m[2]:m[3]])
		switch {
		case nearest(first, []string{"variable"}) != "":
			inside = true
			if brace := bytes.IndexByte(line, '{'); brace >= 0 {
				l.hidden = append(l.hidden, span{from + brace + 1, to})
			}
		case !inside || len(line) == 0 || line[0] == '}':
		case m[2] == 0 && first != "": // a word in the first column begins another block
			inside = false
		case first != "sensitive" && first != "description":
			l.hidden = append(l.hidden, span{from + m[3], to})
		}
		from = to + 1
	}
}

// maskedSource is the file with what no excerpt shows replaced by a text that says
// so: it can still be read, and loaded.
func (l *loader) maskedSource() []byte {
	var out []byte
	at := 0
	for _, h := range merged(l.hidden) {
		out = append(out, l.src[at:h.from]...)
		out = append(out, ` "`+masked+`"`...)
		at = h.to
	}
	return append(out, l.src[at:]...)
}
