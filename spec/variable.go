package spec

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// maxNames bounds the variables of a file, and its locals.
const maxNames = 1_000

func variableSchema() schema {
	return schema{
		kind: "variable", labels: 1, nulls: true, attrs: []string{"type", "default", "sensitive", "description"},
		blocks: []string{"validation"},
	}
}

// variable is one variable block, while its value is being found.
type variable struct {
	name   string
	f      *fields
	ty     cty.Type  // NilType where the block has none
	def    cty.Value // NilVal where the block has none
	secret bool      // the block says so
}

// hidden says that a value from outside is sensitive: the block says so, or the
// default holds what env() gave.
func (v variable) hidden() bool {
	return v.secret || v.def != cty.NilVal && v.def.ContainsMarked()
}

// variables decodes all variable blocks and gives each its value: from Options.Vars,
// else from the last of Options.VarFiles that has it, else from RUNG_VAR_name, else
// the default.
func (l *loader) variables() {
	l.readVarFiles()
	blocks := map[string]*hclsyntax.Block{}
	for _, b := range l.blocksOf("variable") {
		f := l.open(b, variableSchema())
		name := f.label()
		switch first := blocks[name]; {
		case !l.usableName(b):
		case first != nil:
			l.duplicate(b, first)
		case len(blocks) == maxNames:
			l.errorAt(b.DefRange(), sumTooMany, "A file may declare %d variables.", maxNames)
			return
		default:
			blocks[name] = b
			l.vars.declared[name] = b.DefRange()
			l.variable(name, f)
		}
	}
	for _, name := range sortedKeys(l.opts.Vars) {
		if _, ok := l.vars.declared[name]; !ok {
			l.outsideError(sumUndeclaredVar, "--var gives a value to %q, which the file does not declare.%s", clip(name),
				didYouMean(name, sortedKeys(l.vars.declared)))
		}
	}
	l.finishVarFiles()
}

// variable gives one variable its value.
func (l *loader) variable(name string, f *fields) {
	v := variable{name: name, f: f, secret: f.truth("sensitive", f.given("sensitive")) || f.meantSensitive()}
	_ = f.text("description", "")
	ty, typed := l.typeOf(f)
	v.ty = ty
	l.marked = v.secret
	def, ok := l.defaultOf(v)
	l.marked = false
	v.def = def
	l.secretVars[name] = v.hidden()
	if !ok || !typed {
		l.secretVars[name] = true // it may be
		return
	}
	if v.secret && def != cty.NilVal && holdsText(def) {
		l.inFile = true
		l.warnAt(f.attrs["default"].Expr.Range(), sumSecretInFile, "Whoever has the file has the value. A run's copy of the file has it masked; better is an empty default, and RUNG_VAR_%s.", name)
	}
	value, from, ok := l.valueOf(v)
	if !ok {
		return
	}
	if v.secret || from != "" && v.hidden() {
		l.keepSecret(value)
		value = value.Mark(sensitive)
	}
	l.vars.values[name] = value
	l.shown[name] = showVariable(value)
	l.validate(v, value, from)
}

// valueOf finds the value of a variable and where it comes from: "" for the
// default. An unset sensitive one is unknown, which is good enough for a check.
func (l *loader) valueOf(v variable) (value cty.Value, from string, ok bool) {
	if given, isSet := l.opts.Vars[v.name]; isSet {
		from = "--var " + v.name
		value, ok = l.parseOutside(v, given, from)
		return value, from, ok
	}
	if file, attr := l.inVarFiles(v.name); file != nil {
		value, ok = l.valueInFile(v, file, attr)
		return value, file.path, ok
	}
	if given, isSet := l.opts.Env("RUNG_VAR_" + v.name); isSet {
		from = "RUNG_VAR_" + v.name
		value, ok = l.parseOutside(v, given, from)
		return value, from, ok
	}
	switch {
	case v.def != cty.NilVal:
		return v.def, "", true
	case !v.secret:
		l.errorAt(v.f.head(), sumMissingValue, "The variable has no default. Give it a value by --var %s=..., by --var-file or by RUNG_VAR_%s.", v.name, v.name)
	case l.opts.ForRun:
		l.errorAt(v.f.head(), sumMissingValue, "A run needs the value of this sensitive variable. Give it by RUNG_VAR_%s, by --var-file or by --var.", v.name)
	default:
		return cty.UnknownVal(v.wanted()), "", true
	}
	return cty.NilVal, "", false
}

// meantSensitive says that the block has an attribute whose name is a slip of
// sensitive: until that is mended its value is shown nowhere.
func (f *fields) meantSensitive() bool {
	return slices.ContainsFunc(sortedKeys(f.block.Body.Attributes), isSensitiveWord)
}

func isSensitiveWord(s string) bool { return nearest(s, []string{"sensitive"}) != "" }

// defaultOf is the default, or NilVal where there is none; false where it is wrong.
func (l *loader) defaultOf(v variable) (cty.Value, bool) {
	attr := v.f.attrs["default"]
	if attr == nil {
		return cty.NilVal, true
	}
	rng := attr.Expr.Range()
	if len(attr.Expr.Variables()) > 0 {
		l.errorAt(rng, sumRefNotHere, "A default is a value by itself, or env(). A text stands in quotes; what is made from variables stands in locals.")
		return cty.NilVal, false
	}
	def, ok := l.evaluate(attr.Expr)
	if !ok {
		return cty.NilVal, false
	}
	bare, _ := def.Unmark()
	if bare.IsNull() {
		l.errorAt(rng, sumWrongType, "The default is null. Leave it out where there is none.")
		return cty.NilVal, false
	}
	if v.ty == cty.NilType {
		return def, true
	}
	fitted, ok := fit(def, v.ty)
	if !ok {
		l.errorAt(rng, sumWrongType, "The default must be of the variable's type, %s.", typeName(v.ty))
	}
	return fitted, ok
}

// parseOutside reads a text from outside as a value of the variable: a string as it
// stands, everything else as a literal of the language.
func (l *loader) parseOutside(v variable, given, from string) (cty.Value, bool) {
	if v.hidden() {
		l.secrets = append(l.secrets, given)
	}
	if v.wanted() == cty.String {
		return cty.StringVal(given), true
	}
	value, ok := literal(given)
	if ok {
		value, ok = v.take(value)
	}
	if !ok {
		l.outsideError(sumBadVarValue, "%s must be %s.", from, v.wantedInWords())
		return cty.NilVal, false
	}
	return value, true
}

// literal evaluates a text that may use neither names nor functions.
func literal(s string) (cty.Value, bool) {
	if len(s) > maxFile {
		return cty.NilVal, false
	}
	tokens, _ := hclsyntax.LexExpression([]byte(s), "", hcl.InitialPos)
	if what, _ := tooMuch(tokens); what != "" {
		return cty.NilVal, false
	}
	expr, diags := hclsyntax.ParseExpression([]byte(s), "", hcl.InitialPos)
	if diags.HasErrors() || len(expr.Variables()) > 0 || (&loader{}).cost(expr) > maxCost {
		return cty.NilVal, false
	}
	return literalValue(expr)
}

// literalValue is the value of an expression that uses neither names nor functions.
func literalValue(expr hcl.Expression) (cty.Value, bool) {
	v, diags := expr.Value(nil)
	return v, !diags.HasErrors() && v.IsWhollyKnown() && !v.IsNull() && finite(v)
}

// keepSecret remembers the texts in a sensitive value, so that they can be removed
// from whatever is said.
func (l *loader) keepSecret(v cty.Value) {
	bare, _ := v.UnmarkDeep()
	_ = cty.Walk(bare, func(_ cty.Path, v cty.Value) (bool, error) {
		if v.Type() == cty.String && v.IsKnown() && !v.IsNull() {
			l.secrets = append(l.secrets, v.AsString())
		}
		return true, nil
	})
}

// holdsText says whether a default that stands in the file itself, not in the
// environment, holds any text.
func holdsText(v cty.Value) bool {
	bare, marks := v.UnmarkDeep()
	found := false
	_ = cty.Walk(bare, func(_ cty.Path, v cty.Value) (bool, error) {
		found = found || v.Type() == cty.String && v.IsKnown() && !v.IsNull() && v.AsString() != ""
		return true, nil
	})
	return found && len(marks) == 0
}

// showVariable is the value as the manifest has it.
func showVariable(v cty.Value) string {
	if v.ContainsMarked() {
		return masked
	}
	if v.Type() == cty.String {
		return v.AsString()
	}
	b, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		return v.Type().FriendlyName()
	}
	return strings.TrimSpace(string(b))
}
