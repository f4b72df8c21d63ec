package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// mark is the type of cty's marks on values, which follow a value into all that
// is made from it.
type mark string

// sensitive marks what may never be written down.
const sensitive mark = "sensitive"

// names are the variables, or the locals: all that the file declares, and the
// values of those that have one. A name without a value was reported where it
// stands, so what uses it is passed over in silence.
type names struct {
	declared map[string]hcl.Range
	values   map[string]cty.Value
}

func newNames() names {
	return names{declared: map[string]hcl.Range{}, values: map[string]cty.Value{}}
}

// evaluate gives the value of an expression; where it has none, that was reported.
func (l *loader) evaluate(expr hclsyntax.Expression) (cty.Value, bool) {
	refs, ok := l.references(expr)
	if !ok || !l.knownFunctions(expr) {
		return cty.NilVal, false
	}
	if !l.affordable(expr) {
		return cty.NilVal, false
	}
	ctx := l.ctx.NewChild()
	ctx.Variables = map[string]cty.Value{"var": refs.object("var", l.vars), "local": refs.object("local", l.locs), "matrix": refs.object("matrix", l.mat)}
	v, diags := expr.Value(ctx)
	if diags.HasErrors() {
		l.fromHCL(diags, l.marked || l.touchesSecret(expr, refs))
		return cty.NilVal, false
	}
	if !finite(v) {
		l.errorAt(expr.Range(), sumOutOfRange, "A number here is too large or too close to zero for a float64.")
		return cty.NilVal, false
	}
	return v, true
}

// isNull says that an expression is null, which leaves its attribute out. Where it
// can't be told nothing is said of that: whoever decodes the attribute will.
func (l *loader) isNull(expr hclsyntax.Expression) bool {
	if !l.mayBeNull(expr) {
		return false
	}
	before := l.findings
	v, ok := l.evaluate(expr)
	l.findings = before
	return ok && !v.IsMarked() && v.IsNull()
}

// mayBeNull says that null stands in an expression, or in a local that it uses.
func (l *loader) mayBeNull(expr hclsyntax.Expression) bool {
	found := false
	visit(expr, func(n hclsyntax.Node) {
		v := cty.NilVal
		switch e := n.(type) {
		case *hclsyntax.LiteralValueExpr:
			v = e.Val
		case *hclsyntax.ScopeTraversalExpr:
			v = coster{l: l}.value(e)
		}
		found = found || v != cty.NilVal && holdsNull(v)
	})
	return found
}

func holdsNull(v cty.Value) bool {
	found := false
	bare, _ := v.UnmarkDeep()
	_ = cty.Walk(bare, func(_ cty.Path, v cty.Value) (bool, error) {
		found = found || v.IsNull()
		return !found, nil
	})
	return found
}

// refs are the names that an expression uses, by root.
type refs map[string][]string

// object gives what one root stands for in the expression: only the names that it
// uses, so that evaluation takes no longer for a file with many.
func (r refs) object(root string, n names) cty.Value {
	attrs := map[string]cty.Value{}
	for _, name := range r[root] {
		attrs[name] = n.values[name]
	}
	return cty.ObjectVal(attrs)
}

// references checks each name in an expression; false where one has no value.
func (l *loader) references(expr hclsyntax.Expression) (refs, bool) {
	used, good := refs{}, true
	for _, t := range expr.Variables() {
		root := t.RootName()
		var set names
		unknown := sumUnknownVar
		switch root {
		case "var":
			set = l.vars
		case "local":
			set, unknown = l.locs, sumUnknownLocal
		case "matrix":
			if !l.inCell {
				l.matrixNotHere(t)
				good = false
				continue
			}
			set, unknown = l.mat, sumUnknownMatrix
		default:
			l.strayName(t)
			good = false
			continue
		}
		name, ok := l.attrStep(t)
		if !ok {
			good = false
			continue
		}
		v, ok := set.values[name]
		if !ok {
			good = false
			if _, declared := set.declared[name]; !declared {
				l.errorAt(t.SourceRange(), unknown, "%s %q.%s", l.hasNo(root), clip(name),
					didYouMean(name, sortedKeys(set.declared)))
			}
			continue
		}
		used[root] = append(used[root], name)
		good = l.fieldsOf(v, t[2:]) && good
	}
	return used, good
}

// hasNo begins the sentence that ends with a name that is not there.
func (l *loader) hasNo(root string) string {
	switch {
	case root == "var":
		return "The file declares no variable"
	case root == "local":
		return "The file declares no local"
	case len(l.mat.declared) > 0:
		return "The block matrix has no attribute"
	default:
		return "The file has no block matrix, and so no"
	}
}

// attrStep gives the name after the root.
func (l *loader) attrStep(t hcl.Traversal) (string, bool) {
	if len(t) > 1 {
		if step, ok := t[1].(hcl.TraverseAttr); ok {
			return step.Name, true
		}
	}
	l.errorAt(t.SourceRange(), sumBadReference, "%s must be followed by a name, as in %s.name.", t.RootName(), t.RootName())
	return "", false
}

// strayName reports a name that stands for nothing.
func (l *loader) strayName(t hcl.Traversal) {
	root := t.RootName()
	if l.marked {
		l.errorAt(t.SourceRange(), sumUnknownName, "%s", notShown)
		return
	}
	if where, ok := map[string]string{"prompt": "ladder, baseline, retest or confirm", "ladder": "retest"}[root]; ok {
		l.errorAt(t.SourceRange(), sumRefNotHere, "%s.name may stand only by itself, in the attribute %s of %s.", root, root, where)
		return
	}
	hint := didYouMean(root, []string{"var", "local", "matrix"})
	if _, ok := l.vars.declared[root]; ok {
		hint = fmt.Sprintf(" Did you mean %q?", "var."+root)
	} else if _, ok := l.locs.declared[root]; ok {
		hint = fmt.Sprintf(" Did you mean %q?", "local."+root)
	}
	l.errorAt(t.SourceRange(), sumUnknownName, "Nothing is called %q. A text stands in quotes, a variable is var.name.%s", clip(root), hint)
}

// fieldsOf follows a reference into an object, as far as it names attributes.
func (l *loader) fieldsOf(v cty.Value, steps hcl.Traversal) bool {
	for _, s := range steps {
		step, ok := s.(hcl.TraverseAttr)
		v, _ = v.Unmark()
		if !ok || !v.Type().IsObjectType() || v.IsNull() || !v.IsKnown() {
			return true // the library checks the rest
		}
		if !v.Type().HasAttribute(step.Name) {
			l.errorAt(step.SrcRange, sumUnknownField, "The object has no attribute %q.%s", clip(step.Name),
				didYouMean(step.Name, sortedKeys(v.Type().AttributeTypes())))
			return false
		}
		v = v.GetAttr(step.Name)
	}
	return true
}

// knownFunctions checks the names of all functions that are called.
func (l *loader) knownFunctions(expr hclsyntax.Expression) bool {
	good := true
	visit(expr, func(n hclsyntax.Node) {
		call, ok := n.(*hclsyntax.FunctionCallExpr)
		if !ok {
			return
		}
		if _, ok := l.ctx.Functions[call.Name]; !ok {
			good = false
			have := sortedKeys(l.ctx.Functions)
			if l.marked {
				l.errorAt(call.NameRange, sumUnknownFunc, "%s", notShown)
				return
			}
			hint := didYouMean(call.Name, have)
			if hint == "" {
				hint = " There are " + strings.Join(have, ", ") + "."
			}
			l.errorAt(call.NameRange, sumUnknownFunc, "There is no function %q.%s", clip(call.Name), hint)
		}
	})
	return good
}

// visit walks a syntax tree.
func visit(n hclsyntax.Node, f func(hclsyntax.Node)) {
	_ = hclsyntax.VisitAll(n, func(n hclsyntax.Node) hcl.Diagnostics {
		f(n)
		return nil
	})
}

// touchesSecret says that evaluating the expression sees a sensitive value.
func (l *loader) touchesSecret(expr hclsyntax.Expression, used refs) bool {
	if l.broken && len(used) > 0 {
		return true // it may be
	}
	for root, set := range map[string]names{"var": l.vars, "local": l.locs} {
		if slices.ContainsFunc(used[root], func(n string) bool { return set.values[n].ContainsMarked() }) {
			return true
		}
	}
	found := false
	visit(expr, func(n hclsyntax.Node) {
		call, ok := n.(*hclsyntax.FunctionCallExpr)
		found = found || ok && call.Name == "env"
	})
	return found
}
