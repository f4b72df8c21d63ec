package spec

import (
	"math"
	"math/big"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// Bounds on what one series has.
const (
	maxSeries    = 10_000
	maxDoublings = 20 // from 1 to maxRung
	maxGeometric = 200
)

func numbers(names ...string) []function.Parameter {
	var out []function.Parameter
	for _, n := range names {
		out = append(out, function.Parameter{Name: n, Type: cty.Number})
	}
	return out
}

func listOf(out []cty.Value) (cty.Value, error) {
	if len(out) == 0 {
		return cty.ListValEmpty(cty.Number), nil
	}
	return cty.ListVal(out), nil
}

// rungNumber is a whole number that a rung may have, not below another.
func rungNumber(args []cty.Value, i int, least int64) (int64, error) {
	n, ok := whole(args[i])
	if !ok || n < least || n > maxRung {
		return 0, function.NewArgErrorf(i, "must be a whole number between %d and %d", least, maxRung)
	}
	return n, nil
}

// doubling(a, b) is a, 2a, 4a and so on up to b. Where that does not meet b it
// ends below: doubling(1, 24) is [1, 2, 4, 8, 16].
func doubling() function.Function {
	return function.New(&function.Spec{
		Params: numbers("a", "b"),
		Type:   function.StaticReturnType(cty.List(cty.Number)),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			from, err := rungNumber(args, 0, 1)
			if err != nil {
				return cty.NilVal, err
			}
			to, err := rungNumber(args, 1, from)
			if err != nil {
				return cty.NilVal, err
			}
			var out []cty.Value
			for ; from <= to; from *= 2 {
				out = append(out, cty.NumberIntVal(from))
			}
			return listOf(out)
		},
	})
}

// geometric(a, b, n) is n points from a to b in equal ratios, rounded to whole
// numbers; those that round to one are there once.
func geometric() function.Function {
	return function.New(&function.Spec{
		Params: numbers("a", "b", "n"),
		Type:   function.StaticReturnType(cty.List(cty.Number)),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			from, err := rungNumber(args, 0, 1)
			if err != nil {
				return cty.NilVal, err
			}
			to, err := rungNumber(args, 1, from)
			if err != nil {
				return cty.NilVal, err
			}
			n, ok := whole(args[2])
			if !ok || n < 2 || n > maxGeometric {
				return cty.NilVal, function.NewArgErrorf(2, "must be a whole number between 2 and %d", maxGeometric)
			}
			var out []cty.Value
			last := int64(0)
			for i := range n {
				if p := geometricPoint(from, to, i, n-1); p > last {
					out, last = append(out, cty.NumberIntVal(p)), p
				}
			}
			return listOf(out)
		},
	})
}

// geometricPoint is from·(to/from)^(i/m), rounded. The float64 is only where the
// search begins: its last bit differs between processors, and a rung must not.
func geometricPoint(from, to, i, m int64) int64 {
	guess := int64(math.Round(float64(from) * math.Pow(float64(to)/float64(from), float64(i)/float64(m))))
	power := func(base, exponent int64) *big.Int {
		return new(big.Int).Exp(big.NewInt(base), big.NewInt(exponent), nil)
	}
	// p is the rounded point where (2p-1)^m ≤ 2^m · from^(m-i) · to^i < (2p+1)^m.
	exact := new(big.Int).Mul(power(2, m), new(big.Int).Mul(power(from, m-i), power(to, i)))
	for power(2*guess-1, m).Cmp(exact) > 0 {
		guess--
	}
	for power(2*guess+1, m).Cmp(exact) <= 0 {
		guess++
	}
	return guess
}

// steps(from, to, step) goes on to the greatest that is not above to.
func steps() function.Function {
	return function.New(&function.Spec{
		Params: numbers("from", "to", "step"),
		Type:   function.StaticReturnType(cty.List(cty.Number)),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			r, err := rationals(args)
			if err != nil {
				return cty.NilVal, err
			}
			if r[1].Cmp(r[0]) < 0 {
				return cty.NilVal, function.NewArgErrorf(1, "must not be below the first")
			}
			if r[2].Sign() <= 0 {
				return cty.NilVal, function.NewArgErrorf(2, "must be above 0")
			}
			return series(r[0], r[2], func(x *big.Rat) bool { return x.Cmp(r[1]) <= 0 })
		},
	})
}

// rangeFunction is range(limit), range(start, limit) or range(start, limit, step):
// from start, or 0, up to but without the limit.
func rangeFunction() function.Function {
	return function.New(&function.Spec{
		VarParam: &function.Parameter{Name: "numbers", Type: cty.Number},
		Type:     function.StaticReturnType(cty.List(cty.Number)),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			r, err := rationals(args)
			if err != nil {
				return cty.NilVal, err
			}
			start, step := new(big.Rat), big.NewRat(1, 1)
			switch len(r) {
			case 1:
				r = []*big.Rat{start, r[0], step}
			case 2:
				r = []*big.Rat{r[0], r[1], step}
			case 3:
			default:
				return cty.NilVal, function.NewArgErrorf(0, "range takes a limit, a start and a limit, or these and a step")
			}
			start, limit, step := r[0], r[1], r[2]
			if step.Sign() == 0 {
				return cty.NilVal, function.NewArgErrorf(2, "must not be 0")
			}
			return series(start, step, func(x *big.Rat) bool { return x.Cmp(limit) == -step.Sign() })
		},
	})
}

// rationals are the numbers as they are written: in tenths, not in what a float
// makes of them, so that steps(0, 1, 0.1) has its end.
func rationals(args []cty.Value) ([]*big.Rat, error) {
	out := make([]*big.Rat, len(args))
	for i, a := range args {
		x, _ := a.AsBigFloat().Float64()
		if math.Abs(x) > 1e15 || x != 0 && math.Abs(x) < 1e-9 || !finite(a) {
			return nil, function.NewArgErrorf(i, "must be a number up to 1e15, and no closer to 0 than 1e-9")
		}
		out[i], _ = new(big.Rat).SetString(a.AsBigFloat().Text('g', 24))
	}
	return out, nil
}

func series(x, step *big.Rat, within func(*big.Rat) bool) (cty.Value, error) {
	var out []cty.Value
	for x = new(big.Rat).Set(x); within(x); x.Add(x, step) {
		if len(out) == maxSeries {
			return cty.NilVal, function.NewArgErrorf(0, "would have more than %d elements", maxSeries)
		}
		if x.IsInt() {
			out = append(out, cty.NumberIntVal(x.Num().Int64())) // up to 1e15, see rationals
			continue
		}
		out = append(out, cty.NumberVal(new(big.Float).SetPrec(512).SetRat(x)))
	}
	return listOf(out)
}
