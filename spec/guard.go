package spec

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Bounds on a file. The parser and the evaluator of the HCL library recurse over
// nested expressions, and Go ends a process whose stack overflows without asking
// recover: so what nests is counted over the tokens first, in one linear pass.
const (
	maxFile      = 1 << 20 // bytes
	maxDepth     = 64      // brackets, strings and templates within one another
	maxOperators = 2_000   // in the file: chains of them nest in the syntax tree
	maxBrackets  = 10_000  // in the file: so do a[b][c][d]
)

// source takes over the bytes of the file: without a byte order mark and with
// lines ended by LF alone, so that an editor's choice of either changes neither a
// heredoc nor a hash.
func (l *loader) source(b []byte) {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	l.src = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
}

// guard says whether it is safe to parse the file.
func (l *loader) guard() bool {
	if len(l.src) > maxFile {
		l.fileError(sumTooLarge, "The file has %d bytes; an experiment file may have %d.", len(l.src), maxFile)
		return false
	}
	tokens, _ := hclsyntax.LexConfig(l.src, l.path, hcl.InitialPos) // the parser reports what is invalid
	l.hide(tokens)
	what, rng := tooMuch(tokens)
	switch what {
	case "":
		return true
	case sumTooDeep:
		l.errorAt(rng, what, "Brackets, strings and templates may stand at most %d deep within one another.", maxDepth)
	default:
		l.errorAt(rng, what, "A file may have at most %d operators and %d brackets and strings.", maxOperators, maxBrackets)
	}
	return false
}

// tooMuch walks the tokens once and gives the first bound that they break.
func tooMuch(tokens hclsyntax.Tokens) (summary, hcl.Range) {
	var open []hclsyntax.TokenType // the closers that are awaited
	operators, brackets := 0, 0
	for _, t := range tokens {
		if closer, ok := opens(t.Type); ok {
			open = append(open, closer)
			brackets++
		} else if len(open) > 0 && t.Type == open[len(open)-1] {
			open = open[:len(open)-1]
		}
		if isOperator(t.Type) {
			operators++
		}
		switch {
		case len(open) > maxDepth:
			return sumTooDeep, t.Range
		case operators > maxOperators || brackets > maxBrackets:
			return sumTooComplex, t.Range
		}
	}
	return "", hcl.Range{}
}

// opens gives the token that ends what t begins.
func opens(t hclsyntax.TokenType) (hclsyntax.TokenType, bool) {
	switch t {
	case hclsyntax.TokenOBrace:
		return hclsyntax.TokenCBrace, true
	case hclsyntax.TokenOBrack:
		return hclsyntax.TokenCBrack, true
	case hclsyntax.TokenOParen:
		return hclsyntax.TokenCParen, true
	case hclsyntax.TokenOQuote:
		return hclsyntax.TokenCQuote, true
	case hclsyntax.TokenOHeredoc:
		return hclsyntax.TokenCHeredoc, true
	case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
		return hclsyntax.TokenTemplateSeqEnd, true
	default:
		return 0, false
	}
}

// isOperator is true for the tokens that make a syntax tree deeper without a
// bracket. Template controls count, for %{ if } within %{ if } needs none.
func isOperator(t hclsyntax.TokenType) bool {
	switch t {
	case hclsyntax.TokenBang, hclsyntax.TokenMinus, hclsyntax.TokenPlus, hclsyntax.TokenStar, hclsyntax.TokenSlash,
		hclsyntax.TokenPercent, hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenLessThan,
		hclsyntax.TokenLessThanEq, hclsyntax.TokenGreaterThan, hclsyntax.TokenGreaterThanEq, hclsyntax.TokenAnd,
		hclsyntax.TokenOr, hclsyntax.TokenQuestion, hclsyntax.TokenTemplateControl:
		return true
	default:
		return false
	}
}

// parse gives the syntax tree, and says whether there is one to go on with. After
// an error of syntax it still goes on, so that the other mistakes of the file
// show at once.
func (l *loader) parse() bool {
	file, diags := hclsyntax.ParseConfig(l.src, l.path, hcl.InitialPos)
	if diags.HasErrors() {
		l.broken = true
		l.hideDefaults()
		l.fromHCL(diags, false)
	}
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok || body == nil {
		return false
	}
	l.body = body
	return true
}
