package spec

import (
	"fmt"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

func validationSchema() schema {
	return schema{kind: "validation", nulls: true, attrs: []string{"condition", "error_message"}, required: []string{"condition", "error_message"}}
}

// validate holds a variable's value against the condition of its block. A value
// that fails it is reported where the condition stands, for it may come from a
// flag, and the condition says what is allowed.
func (l *loader) validate(v variable, value cty.Value, from string) {
	b := v.f.blocks["validation"]
	if b == nil {
		return
	}
	f := l.open(b, validationSchema())
	for _, name := range []string{"condition", "error_message"} {
		if attr := f.attrs[name]; attr != nil && !l.onlyItself(v.name, attr.Expr) {
			return
		}
	}
	message := f.word("error_message")
	good, ok := f.condition()
	if !ok || good || message == "" {
		return
	}
	shown := "The value"
	if !value.ContainsMarked() {
		shown = fmt.Sprintf("The value, %s,", describe(value))
	}
	if from == "" {
		from = "the default"
	}
	l.errorAt(f.rng("condition"), sumInvalidValue, "%s %s is from %s.", message, shown, from)
}

// onlyItself: a condition is looked at before other variables and all locals have
// values, and one that needs them would be a rule about several.
func (l *loader) onlyItself(name string, expr hclsyntax.Expression) bool {
	for _, t := range expr.Variables() {
		step := ""
		if len(t) > 1 {
			step, _ = stepName(t[1])
		}
		if t.RootName() != "var" || step != name {
			l.errorAt(t.SourceRange(), sumRefNotHere, "A validation may refer to its own variable alone, var.%s.", name)
			return false
		}
	}
	return true
}

// condition evaluates a condition, which may be about a sensitive value: that it
// holds or not is no secret. One about an unset variable holds.
func (f *fields) condition() (holds, ok bool) {
	v, ok := f.secretValue("condition")
	if !ok {
		return false, false
	}
	v, marks := v.UnmarkDeep()
	switch {
	case v.Type() != cty.Bool && v.Type() != cty.DynamicPseudoType || v.IsNull():
		what := describe(v)
		if len(marks) > 0 || f.l.broken {
			what = "another type"
		}
		f.l.errorAt(f.rng("condition"), sumWrongType, "condition of validation must be true or false; this is %s.", what)
		return false, false
	case !v.IsKnown():
		return true, true
	default:
		return v.True(), true
	}
}
