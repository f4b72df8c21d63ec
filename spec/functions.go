package spec

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// maxEnv bounds a value from the environment, in bytes.
const maxEnv = 8 << 10

// functions are those an expression may call. What each makes is bounded by the
// size of its arguments (see coster), and none of them sees a clock, a random
// number or a file.
func (l *loader) functions() map[string]function.Function {
	return map[string]function.Function{
		"abs":       stdlib.AbsoluteFunc,
		"ceil":      stdlib.CeilFunc,
		"concat":    stdlib.ConcatFunc,
		"contains":  stdlib.ContainsFunc,
		"doubling":  doubling(),
		"env":       l.env(),
		"floor":     stdlib.FloorFunc,
		"join":      stdlib.JoinFunc,
		"keys":      stdlib.KeysFunc,
		"length":    stdlib.LengthFunc,
		"lower":     stdlib.LowerFunc,
		"max":       stdlib.MaxFunc,
		"merge":     stdlib.MergeFunc,
		"min":       stdlib.MinFunc,
		"reverse":   stdlib.ReverseListFunc,
		"trimspace": stdlib.TrimSpaceFunc,
		"upper":     stdlib.UpperFunc,
	}
}

// doubling(a, b) is a, 2a, 4a and so on up to b. Where that does not meet b it
// ends below: doubling(1, 24) is [1, 2, 4, 8, 16].
func doubling() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "from", Type: cty.Number}, {Name: "to", Type: cty.Number}},
		Type:   function.StaticReturnType(cty.List(cty.Number)),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			from, ok := whole(args[0])
			if !ok || from < 1 || from > maxRung {
				return cty.NilVal, function.NewArgErrorf(0, "must be a whole number between 1 and %d", maxRung)
			}
			to, ok := whole(args[1])
			if !ok || to < from || to > maxRung {
				return cty.NilVal, function.NewArgErrorf(1, "must be a whole number between the first and %d", maxRung)
			}
			var out []cty.Value
			for ; from <= to; from *= 2 {
				out = append(out, cty.NumberIntVal(from))
			}
			return cty.ListVal(out), nil
		},
	})
}

// env(name, default) reads the environment. Tokens come this way, so what it gives
// is sensitive, the default too.
func (l *loader) env() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "name", Type: cty.String}, {Name: "default", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			value, ok := l.opts.Env(args[0].AsString())
			if !ok {
				value = args[1].AsString()
			}
			if len(value) > maxEnv {
				return cty.NilVal, function.NewArgErrorf(0, "the value in the environment is longer than %d bytes", maxEnv)
			}
			l.secrets = append(l.secrets, value)
			return cty.StringVal(value).Mark(sensitive), nil
		},
	})
}
