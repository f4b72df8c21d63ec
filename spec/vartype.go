package spec

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// typeOf reads the type of a variable: NilType where the block has none, false where
// it is wrong.
func (l *loader) typeOf(f *fields) (cty.Type, bool) {
	attr := f.attrs["type"]
	if attr == nil {
		return cty.NilType, true
	}
	ty, diags := typeexpr.Type(attr.Expr)
	if !diags.HasErrors() {
		return ty, true
	}
	l.errorAt(attr.Expr.Range(), sumBadType, "A type is string, number or bool, without quotes, or one of list(string), set(number), map(string), "+
		"tuple([string, number]) and object({ name = string }) over such.%s", didYouMean(hcl.ExprAsKeyword(attr.Expr), []string{"string", "number", "bool"}))
	return cty.NilType, false
}

func typeName(ty cty.Type) string { return typeexpr.TypeString(ty) }

// wanted is the type of the variable's values: its own, else that of its default,
// else string.
func (v variable) wanted() cty.Type {
	switch {
	case v.ty != cty.NilType:
		return v.ty
	case v.def != cty.NilVal:
		return v.def.Type()
	default:
		return cty.String
	}
}

// wantedInWords says how a value from outside must be written.
func (v variable) wantedInWords() string {
	switch {
	case v.ty != cty.NilType:
		return "of the variable's type, " + typeName(v.ty) + asWritten(v.ty)
	case v.def == cty.NilVal:
		return "a string: that is what a variable without a type and a default is"
	}
	return "written like the variable's default, which is " + kindOfType(v.wanted())
}

// asWritten shows the form of a value that has several parts.
func asWritten(ty cty.Type) string {
	one := "1"
	if ty.IsCollectionType() && ty.ElementType() == cty.String {
		one = `"a"`
	}
	switch {
	case ty.IsListType() || ty.IsSetType() || ty.IsTupleType():
		return ", written as [" + one + ", " + strings.NewReplacer("1", "2", "a", "b").Replace(one) + "]"
	case isObjectType(ty):
		return ", written as { name = " + one + " }"
	default:
		return ""
	}
}

func isObjectType(ty cty.Type) bool { return ty.IsObjectType() || ty.IsMapType() }

// take makes a value from outside one of the variable's. To a declared type it is
// converted; without one it must be of the kind of the default.
func (v variable) take(given cty.Value) (cty.Value, bool) {
	if v.ty == cty.NilType {
		return given, v.def == cty.NilVal && given.Type() == cty.String || v.def != cty.NilVal && sameKind(given, v.def)
	}
	converted, err := convert.Convert(given, v.ty)
	if err != nil || !fits(converted, v.ty) || !finite(converted) {
		return cty.NilVal, false
	}
	return converted, true
}

// fit makes a value that stands in the file one of a type. It must be of that type
// as it stands: no number is taken for a string.
func fit(v cty.Value, ty cty.Type) (cty.Value, bool) {
	if !fits(v, ty) {
		return cty.NilVal, false
	}
	out, err := convert.Convert(v, ty)
	return out, err == nil
}

// fits says that a value is of a type, and that nothing in it is null. A list in a
// file is a tuple by itself, an object may be meant as a map.
func fits(v cty.Value, ty cty.Type) bool {
	v, _ = v.Unmark()
	if v.IsNull() || !v.IsKnown() {
		return false
	}
	switch {
	case ty.IsPrimitiveType():
		return v.Type() == ty
	case ty.IsListType() || ty.IsSetType():
		return isList(v) && allFit(v, func(cty.Value) cty.Type { return ty.ElementType() })
	case ty.IsTupleType():
		return isList(v) && v.LengthInt() == len(ty.TupleElementTypes()) && allFit(v, func(i cty.Value) cty.Type {
			n, _ := whole(i)
			return ty.TupleElementType(int(n))
		})
	case ty.IsMapType():
		return isObject(v) && allFit(v, func(cty.Value) cty.Type { return ty.ElementType() })
	case ty.IsObjectType():
		return isObject(v) && v.LengthInt() == len(ty.AttributeTypes()) && allFit(v, func(k cty.Value) cty.Type {
			if !ty.HasAttribute(k.AsString()) {
				return cty.NilType
			}
			return ty.AttributeType(k.AsString())
		})
	default:
		return false
	}
}

func allFit(v cty.Value, of func(key cty.Value) cty.Type) bool {
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		if ty := of(k); ty == cty.NilType || !fits(e, ty) {
			return false
		}
	}
	return true
}

func isObject(v cty.Value) bool { return isObjectType(v.Type()) }

// sameKind says that two values are of one type, as far as a file can tell: lists
// of any length and objects of any names are alike.
func sameKind(a, b cty.Value) bool {
	bare, _ := b.Unmark()
	return a.Type().Equals(b.Type()) || isList(a) && isList(bare) || a.Type().IsObjectType() && b.Type().IsObjectType()
}

func kindOfType(ty cty.Type) string {
	switch {
	case ty == cty.String:
		return "a string"
	case ty == cty.Number:
		return "a number"
	case ty == cty.Bool:
		return "a bool, true or false"
	case ty.IsTupleType() || ty.IsListType():
		return "a list, as [1, 2, 4]"
	default:
		return "an object, as { name = \"value\" }"
	}
}
