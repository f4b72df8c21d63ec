package spec

import (
	"maps"
	"math"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// maxCost bounds what one expression may make, in bytes of text and elements of
// collections together: for-expressions multiply, and so do texts of texts. It is
// an upper bound found before anything is evaluated.
const maxCost = 1e6

// Costs of a number: as text it may have as many digits as a float64 has orders
// of magnitude, and arithmetic can bring it there.
const (
	costNumber     = 24
	costArithmetic = 340
)

// coster bounds the cost of an expression, given the sizes of what its loops name.
type coster struct {
	l     *loader
	loops map[string]float64
}

func (l *loader) cost(expr hclsyntax.Expression) float64 {
	return coster{l: l, loops: map[string]float64{}}.of(expr)
}

// of is 1 for the node and what its parts cost; nothing here can overflow, for
// floats grow to infinity and that is above every bound.
func (c coster) of(expr hclsyntax.Expression) float64 {
	switch e := expr.(type) {
	case nil:
		return 0
	case *hclsyntax.LiteralValueExpr:
		return sizeOf(e.Val)
	case *hclsyntax.ScopeTraversalExpr:
		return c.reference(e)
	case *hclsyntax.RelativeTraversalExpr:
		return 1 + c.of(e.Source)
	case *hclsyntax.FunctionCallExpr:
		return c.call(e)
	case *hclsyntax.ConditionalExpr:
		return 1 + c.of(e.Condition) + c.of(e.TrueResult) + c.of(e.FalseResult)
	case *hclsyntax.IndexExpr:
		return 1 + c.of(e.Collection) + c.of(e.Key)
	case *hclsyntax.TupleConsExpr:
		return 1 + c.all(e.Exprs)
	case *hclsyntax.ObjectConsExpr:
		sum := 1.0
		for _, item := range e.Items {
			sum += c.of(item.KeyExpr) + c.of(item.ValueExpr)
		}
		return sum
	case *hclsyntax.ObjectConsKeyExpr:
		return 1 + c.key(e)
	case *hclsyntax.ForExpr:
		return c.loop(e)
	case *hclsyntax.SplatExpr:
		n := c.of(e.Source)
		return n + n*c.of(e.Each)
	case *hclsyntax.BinaryOpExpr:
		return costArithmetic + c.of(e.LHS) + c.of(e.RHS)
	case *hclsyntax.UnaryOpExpr:
		return 1 + c.of(e.Val)
	case *hclsyntax.ParenthesesExpr:
		return c.of(e.Expression)
	case *hclsyntax.TemplateExpr:
		return 1 + c.all(e.Parts)
	case *hclsyntax.TemplateJoinExpr:
		return 1 + c.of(e.Tuple)
	case *hclsyntax.TemplateWrapExpr:
		return 1 + c.of(e.Wrapped)
	default: // the element within a splat, or an error that was reported
		return 1
	}
}

func (c coster) all(exprs []hclsyntax.Expression) float64 {
	sum := 0.0
	for _, e := range exprs {
		sum += c.of(e)
	}
	return sum
}

// key is the cost of an object's key: a bare word is itself, not a reference.
func (c coster) key(e *hclsyntax.ObjectConsKeyExpr) float64 {
	if t, ok := e.Wrapped.(*hclsyntax.ScopeTraversalExpr); ok && !e.ForceNonLiteral {
		return float64(len(t.Traversal.RootName()))
	}
	return c.of(e.Wrapped)
}

// reference is the size of what a name stands for.
func (c coster) reference(e *hclsyntax.ScopeTraversalExpr) float64 {
	root := e.Traversal.RootName()
	if n, ok := c.loops[root]; ok {
		return n
	}
	name, ok := "", false
	if len(e.Traversal) > 1 {
		name, ok = stepName(e.Traversal[1])
	}
	switch {
	case ok && root == "var":
		return sizeOf(c.l.vars.values[name])
	case ok && root == "local":
		return sizeOf(c.l.locs.values[name])
	case ok && root == "matrix":
		return sizeOf(c.l.mat.values[name])
	default:
		return 1
	}
}

// call adds the square of the number of arguments, for cty copies the list of
// them once for each sensitive one.
func (c coster) call(e *hclsyntax.FunctionCallExpr) float64 {
	sum, n := 1.0, float64(len(e.Args))
	for i, a := range e.Args {
		size := c.of(a)
		sum += size
		if e.ExpandFinal && i == len(e.Args)-1 {
			n += size
		}
	}
	if e.Name == "env" {
		sum += maxEnv
	}
	if e.Name == "doubling" {
		sum += 64 * costNumber
	}
	if e.Name == "join" { // the separator comes as often as there are elements
		sum *= sum
	}
	return sum + n*n
}

func (c coster) loop(e *hclsyntax.ForExpr) float64 {
	n := c.of(e.CollExpr)
	inner := coster{l: c.l, loops: maps.Clone(c.loops)}
	inner.loops[e.KeyVar], inner.loops[e.ValVar] = n, n
	return n + n*(1+inner.of(e.KeyExpr)+inner.of(e.ValExpr)+inner.of(e.CondExpr))
}

// sizeOf is the size of a value that is there already.
func sizeOf(v cty.Value) float64 {
	if v == cty.NilVal {
		return 1
	}
	v, _ = v.Unmark()
	ty := v.Type()
	switch {
	case v.IsNull() || !v.IsKnown():
		return 1
	case ty == cty.String:
		return 1 + float64(len(v.AsString()))
	case ty == cty.Number:
		if x, _ := v.AsBigFloat().Float64(); math.Abs(x) < 1e15 && (x == 0 || math.Abs(x) > 1e-6) {
			return costNumber
		}
		return costArithmetic
	case ty.IsObjectType() || ty.IsMapType():
		sum := 1.0
		for it := v.ElementIterator(); it.Next(); {
			k, e := it.Element()
			sum += sizeOf(k) + sizeOf(e)
		}
		return sum
	case ty.IsTupleType() || ty.IsListType() || ty.IsSetType():
		sum := 1.0
		for it := v.ElementIterator(); it.Next(); {
			_, e := it.Element()
			sum += sizeOf(e)
		}
		return sum
	default:
		return 1
	}
}

// finite says that every number in a value is one that a float64 holds; the
// library's go on to exponents whose digits fill the memory.
func finite(v cty.Value) bool {
	good := true
	bare, _ := v.UnmarkDeep()
	err := cty.Walk(bare, func(_ cty.Path, v cty.Value) (bool, error) {
		if v.Type() == cty.Number && v.IsKnown() && !v.IsNull() {
			x, _ := v.AsBigFloat().Float64()
			good = good && !math.IsInf(x, 0) && (x != 0 || v.AsBigFloat().Sign() == 0)
		}
		return true, nil
	})
	return good && err == nil
}
