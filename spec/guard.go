package spec

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

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

	maxTokensInFile = 200_000
)

// source takes over the bytes of the file: without a byte order mark and with
// lines ended by LF alone, so that an editor's choice of either changes neither a
// heredoc nor a hash.
func (l *loader) source(b []byte) {
	l.src = normal(b)
}

// normal is a source without a byte order mark and with lines ended by LF alone.
func normal(b []byte) []byte {
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
}

// guard says whether it is safe to parse the file.
func (l *loader) guard() bool {
	if at := notText(l.src); at >= 0 {
		l.hideDefaults()
		l.errorAt(rangeOf(l.src, l.path, at), sumNotText, "An experiment file is text in UTF-8, without control characters other than tabs and line ends.")
		return false
	}
	tokens, ok := l.closeQuotes()
	if !ok {
		l.hideDefaults()
		return false
	}
	l.hide(tokens)
	what, rng := tooMuch(tokens)
	switch what {
	case "":
		l.numbersWithUnits(tokens)
		return true
	case sumTooDeep:
		l.errorAt(rng, what, "Brackets, strings and templates may stand at most %d deep within one another.", maxDepth)
	case sumTooComplex:
		l.errorAt(rng, what, "A file may have at most %d operators, %d brackets and strings, and %d words and signs in all.",
			maxOperators, maxBrackets, maxTokensInFile)
	default:
		l.errorAt(rng, what, "A number must be one that a float64 holds.")
	}
	return false
}

// notText is the offset of the first byte that is in no text, or -1.
func notText(src []byte) int {
	for at := 0; at < len(src); {
		r, n := utf8.DecodeRune(src[at:])
		if r == utf8.RuneError && n == 1 || r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return at
		}
		at += n
	}
	return -1
}

// rangeOf gives the place of one byte, before there are tokens to tell it.
func rangeOf(src []byte, path string, at int) hcl.Range {
	line := bytes.Count(src[:at], []byte("\n"))
	column := utf8.RuneCount(src[bytes.LastIndexByte(src[:at], '\n')+1 : at])
	pos := hcl.Pos{Line: line + 1, Column: column + 1, Byte: at}
	return hcl.Range{Filename: path, Start: pos, End: hcl.Pos{Line: pos.Line, Column: pos.Column + 1, Byte: at + 1}}
}

// tooMuch walks the tokens once and gives the first bound that they break.
func tooMuch(tokens hclsyntax.Tokens) (summary, hcl.Range) {
	var open []hclsyntax.TokenType // the closers that are awaited
	operators, brackets := 0, 0
	for i, t := range tokens {
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
		case operators > maxOperators || brackets > maxBrackets || i > maxTokensInFile:
			return sumTooComplex, t.Range
		case t.Type == hclsyntax.TokenNumberLit && beyondFloat(string(t.Bytes)):
			return sumOutOfRange, t.Range
		}
	}
	return "", hcl.Range{}
}

// plainNumber says that a float64 holds a literal, to its precision. The library's
// numbers go on to exponents whose digits, once in a text, fill the memory.
func plainNumber(s string) bool {
	x, err := strconv.ParseFloat(s, 64)
	mantissa, _, _ := strings.Cut(strings.ToLower(s), "e")
	return err == nil && len(s) <= 400 && (x != 0 || strings.Trim(mantissa, "0.") == "")
}

// beyondFloat says that a literal is a number that no float64 holds, or absurdly long.
// What looks like a number and is none, as 1..64 or 127.0.0.1, is the parser's to report.
func beyondFloat(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return len(s) > 400 || !errors.Is(err, strconv.ErrSyntax) && !plainNumber(s)
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
	file, diags := hclsyntax.ParseConfig(l.parsed, l.path, hcl.InitialPos)
	if diags.HasErrors() || l.failed() {
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
