package spec

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
)

// varFile is one file of variables: HCL attributes, or a JSON object.
type varFile struct {
	path   string
	order  int
	src    []byte
	hidden []span
	broken bool // it can't be parsed: then which text is a value is not known
	attrs  hcl.Attributes
	again  []again // names that stand there already
}

// again is a name that has a value already.
type again struct {
	name string
	rng  hcl.Range
}

// maxVarFiles bounds the files of one load.
const maxVarFiles = 100

// readVarFiles reads and parses them. Values are looked at variable by variable, for
// those say of which type they must be.
func (l *loader) readVarFiles() {
	for i, path := range l.opts.VarFiles {
		if i == maxVarFiles {
			l.outsideError(sumTooMany, "There may be %d files of variables.", maxVarFiles)
			return
		}
		f := &varFile{path: path, order: i}
		b, err := l.readFile(path)
		if err != nil && strings.ContainsAny(path, "=:") { // a value, and it may be a secret
			l.outsideError(sumVarsUnreadable, "--var-file takes the name of a file, and what it was given is none. A single value is set by --var name=value.")
			continue
		}
		l.varFiles = append(l.varFiles, f)
		switch {
		case err != nil:
			l.add(finding{severity: Error, summary: string(sumVarsUnreadable), detail: err.Error(), vars: f})
		case len(b) > maxFile:
			l.add(finding{severity: Error, summary: string(sumTooLarge), detail: "A file of variables may have a MiB.", vars: f})
		default:
			f.src = normal(b)
			l.parseVarFile(f)
		}
	}
}

func (l *loader) errorIn(f *varFile, rng hcl.Range, s summary, detail string) {
	l.add(finding{severity: Error, summary: string(s), detail: detail, rng: &rng, vars: f})
}

// parseVarFile fills in the attributes. The parser's own words may quote a value, so
// of an error of syntax only its kind and its place are shown.
func (l *loader) parseVarFile(f *varFile) {
	f.broken = true
	if at := notText(f.src); at >= 0 {
		l.errorIn(f, rangeOf(f.src, f.path, at), sumNotText, "A file of variables is text in UTF-8, without control characters other than tabs and line ends.")
		return
	}
	isJSON := strings.EqualFold(filepath.Ext(f.path), ".json")
	var diags hcl.Diagnostics
	switch {
	case !l.varFileIsPlain(f, isJSON):
		return
	case isJSON:
		f.attrs, diags = jsonAttributes(f)
	default:
		f.attrs, diags = l.nativeAttributes(f)
	}
	f.broken = false
	for _, d := range diags {
		if d.Severity == hcl.DiagError && !l.setAgain(f, d) {
			f.broken = true
			l.add(finding{severity: Error, summary: strings.TrimSuffix(d.Summary, "."), rng: placeOf(d), vars: f,
				detail: "A file of variables has lines of name = value, each a value by itself; one named .json is an object."})
		}
	}
	if len(f.attrs) > maxNames {
		l.add(finding{severity: Error, summary: string(sumTooMany), detail: fmt.Sprintf("A file of variables may name %d.", maxNames), vars: f})
		f.attrs, f.broken = nil, true
	}
}

// setAgain reports a name that is set a second time, which is no error of syntax.
func (l *loader) setAgain(f *varFile, d *hcl.Diagnostic) bool {
	if !slices.Contains([]string{"Attribute redefined", "Duplicate attribute definition"}, d.Summary) || d.Subject == nil {
		return false
	}
	name := strings.Trim(string(d.Subject.SliceBytes(f.src)), `"`)
	first := f.attrs[name]
	if first == nil || len(f.again) == maxNames {
		return false
	}
	f.again = append(f.again, again{name, *d.Subject})
	l.errorIn(f, *d.Subject, sumSetTwice, fmt.Sprintf("%s is set already on line %d.", clip(name), first.NameRange.Start.Line))
	return true
}

// varFileIsPlain bounds what the parsers recurse over, as guard does.
func (l *loader) varFileIsPlain(f *varFile, isJSON bool) bool {
	var what summary
	var rng hcl.Range
	if isJSON {
		var at int
		if what, at = tooMuchJSON(f.src); what != "" {
			rng = rangeOf(f.src, f.path, at)
		}
	} else {
		tokens, _ := hclsyntax.LexConfig(f.src, f.path, hcl.InitialPos) // the parser reports what is invalid
		if quote, end := openQuote(tokens); end >= 0 {
			l.errorIn(f, hcl.RangeBetween(quote.Range, tokens[end-1].Range), sumOpenQuote, whyOpenQuote)
			return false
		}
		what, rng = tooMuch(tokens)
	}
	if what != "" {
		l.errorIn(f, rng, what, "A file of variables has lists and objects of a few levels, and numbers that a float64 holds.")
	}
	return what == ""
}

// tooMuchJSON is tooMuch for JSON, where only brackets nest. Outside of texts it
// counts them, and looks at numbers.
func tooMuchJSON(src []byte) (summary, int) {
	depth, brackets := 0, 0
	for at := 0; at < len(src); at++ {
		switch c := src[at]; {
		case c == '"':
			at = endOfJSONText(src, at)
		case c == '[' || c == '{':
			depth++
			brackets++
		case c == ']' || c == '}':
			depth--
		case c >= '0' && c <= '9':
			n := at
			for n < len(src) && strings.IndexByte("0123456789.eE+-", src[n]) >= 0 {
				n++
			}
			if beyondFloat(string(src[at:n])) {
				return sumOutOfRange, at
			}
			at = n - 1
		}
		switch {
		case depth > maxDepth:
			return sumTooDeep, at
		case brackets > maxBrackets:
			return sumTooComplex, at
		}
	}
	return "", 0
}

// endOfJSONText is the offset of the quote that ends a text, or of the end of its
// line, where one that is not closed ends too.
func endOfJSONText(src []byte, at int) int {
	for at++; at < len(src) && src[at] != '"' && src[at] != '\n'; at++ {
		if src[at] == '\\' {
			at++
		}
	}
	return at
}

func jsonAttributes(f *varFile) (hcl.Attributes, hcl.Diagnostics) {
	file, diags := json.Parse(f.src, f.path)
	if diags.HasErrors() {
		return nil, diags
	}
	return file.Body.JustAttributes()
}

func (l *loader) nativeAttributes(f *varFile) (hcl.Attributes, hcl.Diagnostics) {
	file, diags := hclsyntax.ParseConfig(f.src, f.path, hcl.InitialPos)
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok || body == nil {
		return nil, diags
	}
	for _, b := range body.Blocks {
		l.errorIn(f, b.DefRange(), sumUnknownBlock, "A file of variables has no blocks, only lines of name = value.")
	}
	out := hcl.Attributes{}
	for name, a := range body.Attributes {
		out[name] = a.AsHCLAttribute()
	}
	return out, diags
}

// inVarFiles finds the last file that gives a variable a value.
func (l *loader) inVarFiles(name string) (*varFile, *hcl.Attribute) {
	for _, f := range slices.Backward(l.varFiles) {
		if a := f.attrs[name]; a != nil {
			return f, a
		}
	}
	return nil, nil
}

// valueInFile is the value that a file gives to a variable.
func (l *loader) valueInFile(v variable, f *varFile, a *hcl.Attribute) (cty.Value, bool) {
	expr, native := a.Expr.(hclsyntax.Expression)
	if native && len(expr.Variables()) > 0 {
		l.errorIn(f, a.Expr.Range(), sumRefNotHere, "Here stands a value by itself. A text stands in quotes.")
		return cty.NilVal, false
	}
	if native && l.cost(expr) > maxCost {
		l.errorIn(f, a.Expr.Range(), sumTooCostly, "What this expression makes could grow past all bounds.")
		return cty.NilVal, false
	}
	value, ok := literalValue(a.Expr)
	if v.hidden() && value != cty.NilVal {
		l.keepSecret(value)
	}
	if ok {
		value, ok = v.take(value)
	}
	if !ok {
		l.errorIn(f, a.Expr.Range(), sumBadVarValue, a.Name+" must be "+v.wantedInWords()+".")
		return cty.NilVal, false
	}
	return value, true
}

// finishVarFiles reports names that no variable has, and hides what no excerpt may
// show: the values of sensitive variables, and those of names that may be a slip of
// one.
func (l *loader) finishVarFiles() {
	for _, f := range l.varFiles {
		for _, name := range sortedKeys(f.attrs) {
			a := f.attrs[name]
			_, declared := l.vars.declared[name]
			if !declared {
				l.add(finding{severity: Error, summary: string(sumUndeclaredVar), rng: &a.NameRange, vars: f,
					detail: "The experiment declares no variable \"" + clip(name) + "\"." + didYouMean(name, sortedKeys(l.vars.declared))})
			}
			if !declared || l.broken || l.secretVars[name] {
				f.hidden = append(f.hidden, f.valueSpan(a.NameRange))
			}
		}
		for _, a := range f.again {
			if _, declared := l.vars.declared[a.name]; !declared || l.broken || l.secretVars[a.name] {
				f.hidden = append(f.hidden, f.valueSpan(a.rng))
			}
		}
		if f.broken {
			f.hideLines(l.vars.declared)
		}
	}
}

// valueSpan is all from a name to the next, or to the end.
func (f *varFile) valueSpan(name hcl.Range) span {
	names := make([]hcl.Range, 0, len(f.attrs)+len(f.again))
	for _, a := range f.attrs {
		names = append(names, a.NameRange)
	}
	for _, a := range f.again {
		names = append(names, a.rng)
	}
	to := len(f.src)
	for _, other := range names {
		if at := other.Start.Byte; at > name.Start.Byte {
			to = min(to, at)
		}
	}
	return span{name.End.Byte, to}
}

// hideLines hides a file that could not be parsed, but for the names of variables
// at the start of lines.
func (f *varFile) hideLines(declared map[string]hcl.Range) {
	word := regexp.MustCompile(`^[ \t{,]*"?([A-Za-z][A-Za-z0-9_-]*)`)
	from := 0
	for line := range bytes.SplitSeq(f.src, []byte("\n")) {
		shown := 0
		if m := word.FindSubmatchIndex(line); m != nil {
			if _, ok := declared[string(line[m[2]:m[3]])]; ok {
				shown = m[3]
			}
		}
		f.hidden = append(f.hidden, span{from + shown, from + len(line)})
		from += len(line) + 1
	}
}
