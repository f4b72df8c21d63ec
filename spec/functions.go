package spec

import (
	"errors"
	"regexp"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// maxEnv bounds a value from the environment, in bytes.
const maxEnv = 8 << 10

// functions are those an expression may call. What each makes is bounded by the
// size of its arguments (see coster), and none of them sees a clock, a random
// number or a file.
func (l *loader) functions() map[string]function.Function {
	all := map[string]function.Function{
		"abs":        tame(stdlib.AbsoluteFunc),
		"ceil":       tame(stdlib.CeilFunc),
		"coalesce":   stdlib.CoalesceFunc,
		"compact":    stdlib.CompactFunc,
		"concat":     stdlib.ConcatFunc,
		"contains":   stdlib.ContainsFunc,
		"distinct":   distinct(),
		"doubling":   doubling(),
		"env":        l.env(),
		"flatten":    stdlib.FlattenFunc,
		"floor":      tame(stdlib.FloorFunc),
		"format":     format(),
		"geometric":  geometric(),
		"join":       stdlib.JoinFunc,
		"jsonencode": stdlib.JSONEncodeFunc,
		"keys":       stdlib.KeysFunc,
		"length":     countOf(),
		"lookup":     stdlib.LookupFunc,
		"lower":      stdlib.LowerFunc,
		"max":        tame(stdlib.MaxFunc),
		"merge":      stdlib.MergeFunc,
		"min":        tame(stdlib.MinFunc),
		"parseint":   tame(stdlib.ParseIntFunc),
		"pow":        tame(stdlib.PowFunc),
		"range":      rangeFunction(),
		"replace":    stdlib.ReplaceFunc,
		"reverse":    stdlib.ReverseListFunc,
		"setproduct": stdlib.SetProductFunc,
		"signum":     tame(stdlib.SignumFunc),
		"slice":      stdlib.SliceFunc,
		"sort":       stdlib.SortFunc,
		"split":      stdlib.SplitFunc,
		"steps":      steps(),
		"substr":     stdlib.SubstrFunc,
		"sum":        sum(),
		"tonumber":   tame(stdlib.MakeToFunc(cty.Number)),
		"tostring":   tame(stdlib.MakeToFunc(cty.String)),
		"trimspace":  stdlib.TrimSpaceFunc,
		"upper":      stdlib.UpperFunc,
		"values":     stdlib.ValuesFunc,
		"zipmap":     stdlib.ZipmapFunc,
	}
	for name, f := range all {
		all[name] = named(f, strings.Fields(argumentNames()[name]))
	}
	return all
}

var errWild = errors.New("a number here is too large or too close to zero for a float64")

// tame keeps numbers that no float64 holds out of a function and of what it gives;
// see wild.
func tame(f function.Function) function.Function {
	good := func(args ...cty.Value) error {
		for _, a := range args {
			if !finite(a) || wildIn(a) {
				return errWild
			}
		}
		return nil
	}
	return function.New(&function.Spec{
		Params: f.Params(), VarParam: f.VarParam(),
		Type: func(args []cty.Value) (cty.Type, error) {
			if err := good(args...); err != nil {
				return cty.NilType, err
			}
			return f.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v, err := f.Call(args)
			if err == nil {
				err = good(v)
			}
			return v, err
		},
	})
}

// format(format, values...) is the library's, of which a width could fill the
// memory.
func format() function.Function {
	inner := tame(stdlib.FormatFunc)
	wide := regexp.MustCompile(`%[^a-zA-Z%]*[0-9]{3}`)
	return function.New(&function.Spec{
		Params: inner.Params(), VarParam: inner.VarParam(),
		Type: function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if f, _ := args[0].Unmark(); f.IsKnown() && wide.MatchString(f.AsString()) {
				return cty.NilVal, function.NewArgErrorf(0, "widths and precisions may have two digits")
			}
			return inner.Call(args)
		},
	})
}

// countOf is length(x): it counts the elements of a collection, or the characters of a text.
func countOf() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType, AllowDynamicType: true, AllowUnknown: true, AllowMarked: true}},
		Type:   function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if args[0].Type() == cty.String {
				return stdlib.Strlen(args[0])
			}
			return stdlib.Length(args[0])
		},
	})
}

// distinct drops elements that were there before. The library compares each with
// all others.
func distinct() function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "list", Type: cty.List(cty.DynamicPseudoType)}},
		Type:   func(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil },
		Impl: func(args []cty.Value, ty cty.Type) (cty.Value, error) {
			seen := map[int][]cty.Value{}
			var out []cty.Value
		elements:
			for _, v := range args[0].AsValueSlice() {
				h := v.Hash()
				for _, o := range seen[h] {
					if o.RawEquals(v) {
						continue elements
					}
				}
				seen[h] = append(seen[h], v)
				out = append(out, v)
			}
			if len(out) == 0 {
				return cty.ListValEmpty(ty.ElementType()), nil
			}
			return cty.ListVal(out), nil
		},
	})
}

// sum(list) adds numbers.
func sum() function.Function {
	return tame(function.New(&function.Spec{
		Params: []function.Parameter{{Name: "list", Type: cty.DynamicPseudoType}},
		Type:   function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if !isList(args[0]) {
				return cty.NilVal, function.NewArgErrorf(0, "must be a list of numbers")
			}
			total := cty.Zero
			for _, v := range args[0].AsValueSlice() {
				n, err := convert.Convert(v, cty.Number)
				if err != nil || n.IsNull() {
					return cty.NilVal, function.NewArgErrorf(0, "must be a list of numbers")
				}
				total = total.Add(n)
			}
			return total, nil
		},
	}))
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
