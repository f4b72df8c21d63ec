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
		kind: "variable", labels: 1, attrs: []string{"default", "sensitive", "description"},
		notYet: map[string]string{
			"type":       "The type is that of the default, and string without one.",
			"validation": "The attributes in which the variable is used check their own values.",
		},
	}
}

// variables decodes all variable blocks and gives each its value: from Options.Vars,
// else from RUNG_VAR_name, else the default.
func (l *loader) variables() {
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
}

// variable gives one variable its value.
func (l *loader) variable(name string, f *fields) {
	secret := f.truth("sensitive", f.given("sensitive")) || f.meantSensitive()
	_ = f.text("description", "")
	l.marked = secret
	def, ok := l.defaultOf(f)
	l.marked = false
	if !ok {
		return
	}
	if secret && def != cty.NilVal && holdsText(def) {
		l.inFile = true
		l.warnAt(f.attrs["default"].Expr.Range(), sumSecretInFile, "Whoever has the file has the value. A run's copy of the file has it masked; better is an empty default, and RUNG_VAR_%s.", name)
	}
	given, from, isSet := l.fromOutside(name)
	v := def
	switch {
	case isSet:
		v, ok = l.parseOutside(given, from, def, secret)
		if !ok {
			return
		}
	case def == cty.NilVal && !secret:
		l.errorAt(f.head(), sumMissingValue, "The variable has no default. Give it a value by --var %s=... or by RUNG_VAR_%s.", name, name)
		return
	case def == cty.NilVal && l.opts.ForRun:
		l.errorAt(f.head(), sumMissingValue, "A run needs the value of this sensitive variable. Give it by RUNG_VAR_%s, or by --var.", name)
		return
	case def == cty.NilVal:
		v = cty.UnknownVal(cty.String)
	}
	if secret {
		l.keepSecret(v)
		v = v.Mark(sensitive)
	}
	l.vars.values[name] = v
	l.shown[name] = showVariable(v)
}

// meantSensitive says that the block has an attribute whose name is a slip of
// sensitive: until that is mended its value is shown nowhere.
func (f *fields) meantSensitive() bool {
	return slices.ContainsFunc(sortedKeys(f.block.Body.Attributes), isSensitiveWord)
}

func isSensitiveWord(s string) bool { return nearest(s, []string{"sensitive"}) != "" }

// defaultOf is the default, or NilVal where there is none; false where it is wrong.
func (l *loader) defaultOf(f *fields) (cty.Value, bool) {
	attr := f.attrs["default"]
	if attr == nil {
		return cty.NilVal, true
	}
	if len(attr.Expr.Variables()) > 0 {
		l.errorAt(attr.Expr.Range(), sumRefNotHere, "A default is a value by itself, or env(). A text stands in quotes; what is made from variables stands in locals.")
		return cty.NilVal, false
	}
	v, ok := l.evaluate(attr.Expr)
	if !ok {
		return cty.NilVal, false
	}
	bare, _ := v.Unmark()
	if bare.IsNull() {
		l.errorAt(attr.Expr.Range(), sumWrongType, "The default is null. Leave it out where there is none.")
		return cty.NilVal, false
	}
	return v, true
}

// fromOutside is the value that a flag or the environment gives, and which did.
func (l *loader) fromOutside(name string) (value, from string, ok bool) {
	if v, ok := l.opts.Vars[name]; ok {
		return v, "--var " + name, true
	}
	v, ok := l.opts.Env("RUNG_VAR_" + name)
	return v, "RUNG_VAR_" + name, ok
}

// parseOutside reads a value from outside as the type of the default: a string as
// it stands, everything else as a literal of the language.
func (l *loader) parseOutside(given, from string, def cty.Value, secret bool) (cty.Value, bool) {
	if secret || def != cty.NilVal && def.ContainsMarked() {
		l.secrets = append(l.secrets, given)
	}
	if def == cty.NilVal || def.Type() == cty.String {
		return cty.StringVal(given).WithSameMarks(marksOf(def)), true
	}
	v, ok := literal(given)
	if !ok || !sameKind(v, def) {
		l.outsideError(sumBadVarValue, "%s must be written like the variable's default, which is %s.", from, kindOfType(def.Type()))
		return cty.NilVal, false
	}
	return v.WithSameMarks(marksOf(def)), true
}

// sameKind says that two values are of one type, as far as a file can tell: lists
// of any length and objects of any names are alike.
func sameKind(a, b cty.Value) bool {
	bare, _ := b.Unmark()
	return a.Type().Equals(b.Type()) || isList(a) && isList(bare) || a.Type().IsObjectType() && b.Type().IsObjectType()
}

func marksOf(v cty.Value) cty.Value {
	if v == cty.NilVal {
		return cty.True
	}
	return v
}

func kindOfType(ty cty.Type) string {
	switch {
	case ty == cty.Number:
		return "a number"
	case ty == cty.Bool:
		return "a bool, true or false"
	case ty.IsTupleType() || ty.IsListType():
		return "a list, as [1, 2, 4]"
	default:
		return "an object, as { name = \"value\" }"
	}
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
