package spec

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// argumentNames are the names of the functions' arguments as the reference has them:
// errors name them, and the library's own are others. The last is that of all further
// ones where there may be any number.
func argumentNames() map[string]string {
	return map[string]string{
		"abs": "x", "ceil": "x", "floor": "x", "signum": "x", "jsonencode": "x", "length": "x", "tonumber": "x", "tostring": "x",
		"coalesce": "x", "max": "x", "min": "x", "range": "x",
		"compact": "list", "concat": "list", "distinct": "list", "flatten": "list", "reverse": "list", "setproduct": "list",
		"sort": "list", "sum": "list",
		"keys": "object", "merge": "object", "values": "object",
		"lower": "text", "trimspace": "text", "upper": "text",
		"contains": "list x", "doubling": "a b", "env": "name default", "format": "format x", "geometric": "a b n",
		"join": "text list", "lookup": "object key x", "parseint": "text base", "pow": "x y", "replace": "text old new",
		"slice": "list i j", "split": "text string", "steps": "from to step", "substr": "text from n", "zipmap": "keys values",
	}
}

// named is a function whose arguments have these names.
func named(f function.Function, names []string) function.Function {
	params, rest := f.Params(), f.VarParam()
	for i := range params {
		params[i].Name = names[i]
	}
	if rest != nil {
		last := *rest
		last.Name = names[len(names)-1]
		rest = &last
	}
	return function.New(&function.Spec{
		Params: params, VarParam: rest,
		Type: f.ReturnTypeForValues,
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return f.Call(args) },
	})
}
