package parquet

import (
	"math"
	"slices"
	"time"
	"unique"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"rung/sinks/record"
)

// row is one row of a table: whose it is, and the item itself.
type row[T any] struct {
	id Identity
	v  *T
}

// column is one column of a table of T: all that is known of it.
type column[T any] struct {
	name, unit, meaning, formula string

	typ     arrow.DataType
	repeats bool // values come again and again: dictionary-encoded

	known func(*row[T]) bool // nil: always; where it is false the cell is null
	write func(array.Builder, *row[T])
	read  func(arrow.Array, int, *row[T]) // nil: derived from other columns
}

// by adds the formula of a derived value.
func (c column[T]) by(formula string) column[T] { c.formula = formula; return c }

// when makes the cell null in rows where known is false.
func (c column[T]) when(known func(*row[T]) bool) column[T] { c.known = known; return c }

// distinct says that hardly a value comes twice, so that a dictionary is a waste.
func (c column[T]) distinct() column[T] { c.repeats = false; return c }

// put writes one cell.
func (c column[T]) put(b array.Builder, r *row[T]) {
	if c.known != nil && !c.known(r) {
		b.AppendNull()
		return
	}
	c.write(b, r)
}

// maxText bounds a text in bytes: an error's body, above all.
const maxText = 2 << 10

// text is a column of text; the empty text is unknown.
func text[T any, S ~string](name, meaning string, at func(*row[T]) *S) column[T] {
	last := "" // most cells are like the one before
	return column[T]{
		name: name, meaning: meaning, typ: arrow.BinaryTypes.String, repeats: true,
		write: func(b array.Builder, r *row[T]) {
			if s := *at(r); s != "" {
				b.(*array.StringBuilder).Append(record.Clip(string(s), maxText))
			} else {
				b.AppendNull()
			}
		},
		read: func(a arrow.Array, i int, r *row[T]) {
			if s := textAt(a, i); s != last {
				last = unique.Make(s).Value()
			}
			*at(r) = S(last)
		},
	}
}

// textAt is a cell of a column of text, as it is or by a dictionary.
func textAt(a arrow.Array, i int) string {
	if d, ok := a.(*array.Dictionary); ok {
		a, i = d.Dictionary(), d.GetValueIndex(i)
	}
	return a.(*array.String).Value(i)
}

// whole is a column of integers that are always known.
func whole[T any, N ~int | ~int64](name, unit, meaning string, at func(*row[T]) *N) column[T] {
	return column[T]{
		name: name, unit: unit, meaning: meaning, typ: arrow.PrimitiveTypes.Int64, repeats: true,
		write: func(b array.Builder, r *row[T]) { b.(*array.Int64Builder).Append(int64(*at(r))) },
		read:  func(a arrow.Array, i int, r *row[T]) { *at(r) = N(a.(*array.Int64).Value(i)) },
	}
}

// wholeOrNull is a column of integers that may be unknown.
func wholeOrNull[T any, N ~int | ~int64](name, unit, meaning string, at func(*row[T]) **N) column[T] {
	var last *N // cells that follow one another share it: what is read is not changed
	return column[T]{
		name: name, unit: unit, meaning: meaning, typ: arrow.PrimitiveTypes.Int64, repeats: true,
		write: func(b array.Builder, r *row[T]) {
			if p := *at(r); p != nil {
				b.(*array.Int64Builder).Append(int64(*p))
			} else {
				b.AppendNull()
			}
		},
		read: func(a arrow.Array, i int, r *row[T]) {
			if n := N(a.(*array.Int64).Value(i)); last == nil || *last != n {
				last = new(n)
			}
			*at(r) = last
		},
	}
}

// number is a column of real numbers that are always known.
func number[T any](name, unit, meaning string, at func(*row[T]) *float64) column[T] {
	c := derived(name, unit, meaning, func(r *row[T]) float64 { return *at(r) })
	c.read = func(a arrow.Array, i int, r *row[T]) { *at(r) = a.(*array.Float64).Value(i) }
	return c
}

// numberOrNull is a column of real numbers that may be unknown.
func numberOrNull[T any](name, unit, meaning string, at func(*row[T]) **float64) column[T] {
	c := derived(name, unit, meaning, func(r *row[T]) float64 {
		if p := *at(r); p != nil {
			return *p
		}
		return math.NaN()
	})
	c.read = func(a arrow.Array, i int, r *row[T]) {
		x := a.(*array.Float64).Value(i)
		*at(r) = &x
	}
	return c
}

// derived is a column of real numbers that follow from others; the reader needs
// it not. What is not finite is unknown: NaN breaks the statistics of readers.
func derived[T any](name, unit, meaning string, get func(*row[T]) float64) column[T] {
	return column[T]{
		name: name, unit: unit, meaning: meaning, typ: arrow.PrimitiveTypes.Float64,
		write: func(b array.Builder, r *row[T]) {
			if x := get(r); math.IsNaN(x) || math.IsInf(x, 0) {
				b.AppendNull()
			} else {
				b.(*array.Float64Builder).Append(x)
			}
		},
	}
}

// numbers is a column of lists of real numbers; the empty list is unknown.
func numbers[T any](name, unit, meaning string, at func(*row[T]) *[]float64) column[T] {
	return listOf(name, unit, meaning, arrow.PrimitiveTypes.Float64, at,
		func(b array.Builder, v []float64) { b.(*array.Float64Builder).AppendValues(v, nil) },
		func(a arrow.Array) []float64 { return a.(*array.Float64).Float64Values() })
}

// wholes is a column of lists of integers; the empty list is unknown.
func wholes[T any](name, meaning string, at func(*row[T]) *[]int64) column[T] {
	return listOf(name, "", meaning, arrow.PrimitiveTypes.Int64, at,
		func(b array.Builder, v []int64) { b.(*array.Int64Builder).AppendValues(v, nil) },
		func(a arrow.Array) []int64 { return a.(*array.Int64).Int64Values() })
}

// listOf is a column of lists of a type of values, which put appends and values reads.
func listOf[T any, V any](name, unit, meaning string, typ arrow.DataType, at func(*row[T]) *[]V, put func(array.Builder, []V), values func(arrow.Array) []V) column[T] {
	return column[T]{
		name: name, unit: unit, meaning: meaning, typ: arrow.ListOf(typ),
		write: func(b array.Builder, r *row[T]) {
			list := b.(*array.ListBuilder)
			if len(*at(r)) == 0 {
				list.AppendNull()
				return
			}
			list.Append(true)
			put(list.ValueBuilder(), *at(r))
		},
		read: func(a arrow.Array, i int, r *row[T]) {
			list := a.(*array.List)
			from, to := list.ValueOffsets(i)
			*at(r) = slices.Clone(values(list.ListValues())[from:to])
		},
	}
}

// boolean is a column of truth values.
func boolean[T any](name, meaning string, at func(*row[T]) *bool) column[T] {
	return column[T]{
		name: name, meaning: meaning, typ: arrow.FixedWidthTypes.Boolean,
		write: func(b array.Builder, r *row[T]) { b.(*array.BooleanBuilder).Append(*at(r)) },
		read:  func(a arrow.Array, i int, r *row[T]) { *at(r) = a.(*array.Boolean).Value(i) },
	}
}

// instant is a column of points in time, to the microsecond, in UTC.
func instant[T any](name, meaning string, at func(*row[T]) *time.Time) column[T] {
	return column[T]{
		name: name, unit: "µs, UTC", meaning: meaning,
		typ: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"},
		write: func(b array.Builder, r *row[T]) {
			if t := *at(r); t.IsZero() {
				b.AppendNull()
			} else {
				b.(*array.TimestampBuilder).Append(arrow.Timestamp(t.UnixMicro()))
			}
		},
		read: func(a arrow.Array, i int, r *row[T]) {
			*at(r) = time.UnixMicro(int64(a.(*array.Timestamp).Value(i))).UTC()
		},
	}
}
