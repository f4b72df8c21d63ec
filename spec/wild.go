package spec

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// wild says that an operand of arithmetic may be a text with an exponent that no
// float64 has, as "1e999999999". The library converts texts to numbers, and the
// digits of such a number, once it is made a text again, fill the memory. A text
// that is put together is refused as such an operand, whatever it turns out to be.
func (c coster) wild(expr hclsyntax.Expression) bool {
	switch e := expr.(type) {
	case *hclsyntax.LiteralValueExpr:
		return wildIn(e.Val)
	case *hclsyntax.TemplateExpr:
		return !plainText(e) || wildTemplate(e)
	case *hclsyntax.TemplateJoinExpr:
		return true
	case *hclsyntax.TemplateWrapExpr:
		return c.wild(e.Wrapped)
	case *hclsyntax.ParenthesesExpr:
		return c.wild(e.Expression)
	case *hclsyntax.ScopeTraversalExpr:
		if loop, ok := c.loops[e.Traversal.RootName()]; ok {
			return loop.wild
		}
		return wildIn(c.value(e))
	case *hclsyntax.FunctionCallExpr:
		return slices.Contains(textFunctions(), e.Name) || !slices.Contains(numberFunctions(), e.Name) && slices.ContainsFunc(e.Args, c.wild)
	case *hclsyntax.ConditionalExpr:
		return c.wild(e.TrueResult) || c.wild(e.FalseResult)
	case *hclsyntax.IndexExpr:
		return c.wild(e.Collection)
	case *hclsyntax.RelativeTraversalExpr:
		return c.wild(e.Source)
	case *hclsyntax.SplatExpr:
		return c.wild(e.Source) || c.wild(e.Each)
	case *hclsyntax.TupleConsExpr:
		return slices.ContainsFunc(e.Exprs, c.wild)
	case *hclsyntax.ObjectConsExpr:
		return slices.ContainsFunc(e.Items, func(i hclsyntax.ObjectConsItem) bool { return c.wild(i.KeyExpr) || c.wild(i.ValueExpr) })
	case *hclsyntax.ObjectConsKeyExpr:
		return c.wild(e.Wrapped)
	case *hclsyntax.ForExpr:
		inner := c.within(e)
		return inner.wild(e.ValExpr) || e.KeyExpr != nil && inner.wild(e.KeyExpr)
	default: // operators give numbers and bools
		return false
	}
}

// plainText is a template without anything in it to evaluate.
func plainText(e *hclsyntax.TemplateExpr) bool {
	return !slices.ContainsFunc(e.Parts, func(p hclsyntax.Expression) bool { _, ok := p.(*hclsyntax.LiteralValueExpr); return !ok })
}

func wildTemplate(e *hclsyntax.TemplateExpr) bool {
	v, diags := e.Value(nil)
	return diags.HasErrors() || wildIn(v)
}

// textFunctions give a text that was not there before.
func textFunctions() []string {
	return []string{"env", "format", "join", "jsonencode", "lower", "replace", "split", "substr", "tostring", "trimspace", "upper"}
}

// numberFunctions give numbers and bools; those that take numbers refuse wild ones.
func numberFunctions() []string {
	return []string{"abs", "ceil", "contains", "doubling", "floor", "geometric", "length", "max", "min", "parseint", "pow", "range",
		"signum", "steps", "sum", "tonumber"}
}

// wildIn looks at all texts in a value.
func wildIn(v cty.Value) bool {
	if v == cty.NilVal {
		return false
	}
	found := false
	bare, _ := v.UnmarkDeep()
	_ = cty.Walk(bare, func(_ cty.Path, v cty.Value) (bool, error) {
		switch ty := v.Type(); {
		case v.IsNull() || !v.IsKnown():
		case ty == cty.String:
			found = found || wildText(v.AsString())
		case ty.IsObjectType() || ty.IsMapType():
			for name := range v.AsValueMap() {
				found = found || wildText(name)
			}
		}
		return !found, nil
	})
	return found
}

// wildText is a text that the library would read as a number which is none here.
func wildText(s string) bool {
	if strings.Trim(s, "+-0123456789.eEpP_xXabcdfABCDF ") != "" {
		return false
	}
	return strings.ContainsAny(s, "eEpP") && !plainNumber(s) || len(s) > 400
}
