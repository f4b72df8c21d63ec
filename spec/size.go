package spec

import (
	"math"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// count bounds the elements of a collection. Where it does not know better it is
// the size, for each element has at least one part.
func (c coster) count(expr hclsyntax.Expression) float64 {
	switch e := expr.(type) {
	case *hclsyntax.ParenthesesExpr:
		return c.count(e.Expression)
	case *hclsyntax.TupleConsExpr:
		return float64(len(e.Exprs))
	case *hclsyntax.ScopeTraversalExpr:
		v := c.value(e)
		if v == cty.NilVal || len(e.Traversal) > 2 {
			return c.of(expr)
		}
		if bare, _ := v.Unmark(); !bare.IsNull() && bare.IsKnown() && bare.CanIterateElements() {
			return float64(bare.LengthInt())
		}
	case *hclsyntax.FunctionCallExpr:
		if n, ok := c.points(e); ok {
			return n
		}
	}
	return c.of(expr)
}

// element bounds the size of one element of a collection.
func (c coster) element(expr hclsyntax.Expression) float64 {
	switch e := expr.(type) {
	case *hclsyntax.ParenthesesExpr:
		return c.element(e.Expression)
	case *hclsyntax.TupleConsExpr:
		most := 1.0
		for _, part := range e.Exprs {
			most = max(most, c.of(part))
		}
		return most
	case *hclsyntax.FunctionCallExpr:
		if _, ok := c.points(e); ok {
			return costNumber
		}
	}
	return c.of(expr)
}

// points is how many numbers a function for series gives.
func (c coster) points(e *hclsyntax.FunctionCallExpr) (float64, bool) {
	switch e.Name {
	case "doubling":
		return maxDoublings, true
	case "geometric":
		return maxGeometric, true
	case "steps", "range":
		return c.rangePoints(e), true
	default:
		return 0, false
	}
}

// rangePoints counts what can be counted before anything is evaluated: a series
// whose arguments are numbers, or names of numbers.
func (c coster) rangePoints(e *hclsyntax.FunctionCallExpr) float64 {
	args := []float64{}
	for _, a := range e.Args {
		x, ok := c.number(a)
		if !ok {
			return maxSeries
		}
		args = append(args, x)
	}
	start, limit, step := 0.0, 0.0, 1.0
	switch len(args) {
	case 1:
		limit = args[0]
	case 2:
		start, limit = args[0], args[1]
	case 3:
		start, limit, step = args[0], args[1], args[2]
	}
	if step == 0 {
		return maxSeries
	}
	return min(maxSeries, max(0, math.Abs((limit-start)/step))+2)
}

// number is the value of an expression that is a number by itself.
func (c coster) number(expr hclsyntax.Expression) (float64, bool) {
	v := cty.NilVal
	switch e := expr.(type) {
	case *hclsyntax.LiteralValueExpr:
		v = e.Val
	case *hclsyntax.ScopeTraversalExpr:
		if _, loop := c.loops[e.Traversal.RootName()]; !loop && len(e.Traversal) == 2 {
			v = c.value(e)
		}
	}
	if v == cty.NilVal || v.IsMarked() || v.IsNull() || !v.IsKnown() || v.Type() != cty.Number {
		return 0, false
	}
	x, _ := v.AsBigFloat().Float64()
	return x, !math.IsInf(x, 0)
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
