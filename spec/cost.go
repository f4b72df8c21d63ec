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

// maxSpent bounds what all of a file may make, cell by cell.
const maxSpent = 3e7

// Costs of a number: as text it may have as many digits as a float64 has orders
// of magnitude, and arithmetic can bring it there.
const (
	costNumber     = 24
	costArithmetic = 340
)

// coster bounds the cost of an expression, given the sizes of what its loops name.
type coster struct {
	l     *loader
	loops map[string]loop
}

// loop is what is known of a name within a for-expression.
type loop struct {
	size float64 // of one element
	wild bool
}

func (l *loader) cost(expr hclsyntax.Expression) float64 {
	return coster{l: l, loops: map[string]loop{}}.of(expr)
}

// affordable says that what an expression makes is within bounds.
func (l *loader) affordable(expr hclsyntax.Expression) bool {
	cost := l.cost(expr)
	if cost > maxCost {
		l.errorAt(expr.Range(), sumTooCostly, "What this expression makes could grow past all bounds; an experiment needs no such values.")
		return false
	}
	if l.spent += cost; l.spent > maxSpent {
		l.errorAt(expr.Range(), sumTooCostly, "With this expression all that the file makes, in all its cells together, grows past all bounds.")
		return false
	}
	return true
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
		return costArithmetic + c.operand(e.Op, e.LHS) + c.operand(e.Op, e.RHS)
	case *hclsyntax.UnaryOpExpr:
		return 1 + c.operand(e.Op, e.Val)
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

// operand is the cost of what an operator is applied to.
func (c coster) operand(op *hclsyntax.Operation, expr hclsyntax.Expression) float64 {
	if op.Type == cty.Number && c.wild(expr) {
		return math.Inf(1)
	}
	return c.of(expr)
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
	if loop, ok := c.loops[e.Traversal.RootName()]; ok {
		return loop.size
	}
	return sizeOf(c.value(e))
}

// value is what a name stands for, NilVal where that is not known.
func (c coster) value(e *hclsyntax.ScopeTraversalExpr) cty.Value {
	root := e.Traversal.RootName()
	name, ok := "", false
	if len(e.Traversal) > 1 {
		name, ok = stepName(e.Traversal[1])
	}
	switch {
	case ok && root == "var":
		return c.l.vars.values[name]
	case ok && root == "local":
		return c.l.locs.values[name]
	case ok && root == "matrix":
		return c.l.mat.values[name]
	default:
		return cty.NilVal
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
	return c.made(e, sum) + n*n
}

// made is what a function makes of arguments of that size.
func (c coster) made(e *hclsyntax.FunctionCallExpr, size float64) float64 {
	switch e.Name {
	case "env":
		return size + maxEnv
	case "doubling", "steps", "range":
		return size + c.count(e)*costNumber
	case "geometric": // each point takes some arithmetic
		return size + c.count(e)*costNumber*10
	case "join":
		return c.joined(e, size)
	case "replace", "format": // an argument comes as often as another has parts
		return size * size
	case "split":
		return 2 * size
	case "jsonencode": // a sign may become six
		return 6 * size
	case "setproduct":
		return c.product(e)
	case "pow", "sum", "parseint", "tonumber", "tostring":
		return size + costArithmetic
	default:
		return size
	}
}

// joined is the cost of join: the separator comes as often as there are elements.
func (c coster) joined(e *hclsyntax.FunctionCallExpr, size float64) float64 {
	if e.ExpandFinal || len(e.Args) == 0 {
		return size * size
	}
	count := 0.0
	for _, a := range e.Args[1:] {
		count += c.count(a)
	}
	return size + count*c.of(e.Args[0])
}

// product is the cost of setproduct: as many tuples as the counts multiply to, each
// of one element of every list.
func (c coster) product(e *hclsyntax.FunctionCallExpr) float64 {
	count, tuple := 1.0, 1.0
	for _, a := range e.Args {
		count *= max(1, c.count(a))
		tuple += c.element(a)
	}
	if e.ExpandFinal {
		return math.Inf(1) // how many lists there are is not known
	}
	return count * tuple
}

func (c coster) loop(e *hclsyntax.ForExpr) float64 {
	inner := c.within(e)
	return c.of(e.CollExpr) + c.count(e.CollExpr)*(1+inner.of(e.KeyExpr)+inner.of(e.ValExpr)+inner.of(e.CondExpr))
}

// within is the coster of what a for-expression repeats.
func (c coster) within(e *hclsyntax.ForExpr) coster {
	inner := coster{l: c.l, loops: maps.Clone(c.loops)}
	of := loop{c.element(e.CollExpr), c.wild(e.CollExpr)}
	inner.loops[e.KeyVar], inner.loops[e.ValVar] = of, of
	return inner
}
