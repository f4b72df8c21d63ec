package spec

import (
	"bytes"
	"regexp"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// hide finds what an excerpt must not show: the defaults of variables that say
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
		sensitive = sensitive || isIdent(t, "sensitive")
	}
	if !sensitive {
		return
	}
	for i := 0; i+1 < len(block); i++ {
		if isIdent(block[i], "default") && block[i+1].Type == hclsyntax.TokenEqual {
			end := valueEnd(block, i+2)
			l.hidden = append(l.hidden, span{block[i+1].Range.End.Byte, block[end].Range.Start.Byte})
		}
	}
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
		if depth < 0 || depth == 0 && tokens[i].Type == hclsyntax.TokenNewline {
			return i
		}
	}
	return i
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

// hideDefaults is for a file with errors of syntax, in which the tokens may lie:
// where it speaks of anything sensitive, no default is shown to the end of its
// line.
func (l *loader) hideDefaults() {
	if !bytes.Contains(l.src, []byte("sensitive")) {
		return
	}
	for _, m := range regexp.MustCompile(`default[ \t]*=?([^\n]*)`).FindAllSubmatchIndex(l.src, -1) {
		l.hidden = append(l.hidden, span{m[2], m[3]})
	}
}
