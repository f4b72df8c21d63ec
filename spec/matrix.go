package spec

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"rung/spec/plan"
)

// Bounds on a matrix. Each cell is a run of its own.
const (
	maxMatrixValues = 100
	maxCells        = 1_000
	maxMatrixText   = 100 // characters of one value: it stands in columns and names
	maxCellName     = 120 // bytes: it is part of a folder's name
)

// combination is one choice of the matrix, from which a cell is decoded.
type combination struct {
	name     string
	settings []plan.Setting
	values   map[string]cty.Value
}

// dimension is one attribute of the matrix.
type dimension struct {
	name   string
	values []cty.Value
}

// matrix decodes the block: each combination of its lists, in the order of the
// file, the last attribute changing first. Without the block there is one, and so
// where the block is wrong: then what reads it is passed over.
func (l *loader) matrix(b *hclsyntax.Block) []combination {
	if b == nil {
		return []combination{{}}
	}
	names := inOrder(b.Body.Attributes)
	f := l.open(b, schema{kind: "matrix", nulls: true, attrs: names})
	if len(names) == 0 {
		l.errorAt(b.DefRange(), sumOutOfRange, "A matrix has at least one attribute, a list, as in: max_num_seqs = [4, 8].")
		return []combination{{}}
	}
	var dims []dimension
	cells, sound := 1, true
	for _, name := range names {
		l.mat.declared[name] = b.Body.Attributes[name].NameRange
		values, ok := f.matrixValues(name)
		sound = sound && ok
		dims = append(dims, dimension{name, values})
		if cells *= max(1, len(values)); cells > maxCells {
			l.errorAt(b.DefRange(), sumOutOfRange, "A matrix may have %d cells. With %s it has more.", maxCells, clip(name))
			return []combination{{}}
		}
	}
	if !sound {
		return []combination{{}}
	}
	return combine(dims, cells)
}

// matrixValues reads one list of the matrix: strings, numbers and bools, no two of
// them equal.
func (f *fields) matrixValues(name string) ([]cty.Value, bool) {
	const wanted = "a list of strings, numbers or bools"
	if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`).MatchString(name) {
		f.l.errorAt(f.attrs[name].NameRange, sumBadLabel, "The name of an attribute of matrix begins with a letter and has up to 64 letters, digits and the signs - and _.")
		return nil, false
	}
	values, ok := f.elements(name, wanted, maxMatrixValues)
	if !ok {
		return nil, false
	}
	if len(values) == 0 {
		f.l.errorAt(f.rng(name), sumOutOfRange, "%s of matrix has no value, so that there would be no cell.", name)
		return nil, false
	}
	for i, v := range values {
		switch {
		case v.IsNull() || !v.IsKnown() || !v.Type().IsPrimitiveType():
			f.wrongElement(name, wanted, v)
			return nil, false
		case v.Type() == cty.String && (v.AsString() == "" || len([]rune(v.AsString())) > maxMatrixText):
			f.l.errorAt(f.rng(name), sumOutOfRange, "A string of the matrix has between 1 and %d characters.", maxMatrixText)
			return nil, false
		case slices.ContainsFunc(values[:i], func(o cty.Value) bool { return o.RawEquals(v) }):
			f.l.errorAt(f.rng(name), sumOutOfRange, "%s of matrix has %s twice.", name, describe(v))
			return nil, false
		}
	}
	return values, true
}

// combine makes the product.
func combine(dims []dimension, cells int) []combination {
	out, taken := make([]combination, cells), map[string]bool{}
	for i := range out {
		c := combination{values: map[string]cty.Value{}}
		var parts []string
		rest := i
		for j := range slices.Backward(dims) {
			d := dims[j]
			v := d.values[rest%len(d.values)]
			rest /= len(d.values)
			c.values[d.name] = v
			raw := mustMarshal(v)
			c.settings = append(c.settings, plan.Setting{Name: d.name, Value: raw})
			parts = append(parts, d.name+"="+usableInName(v, raw))
		}
		slices.Reverse(c.settings)
		slices.Reverse(parts)
		c.name = uniqueName(strings.Join(parts, ","), i, taken)
		out[i] = c
	}
	return out
}

// mustMarshal is the JSON of a string, a number or a bool.
func mustMarshal(v cty.Value) json.RawMessage {
	b, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		panic("spec: a value that always marshals did not: " + err.Error())
	}
	return b
}

// usableInName is a value as it may stand in the name of a folder.
func usableInName(v cty.Value, raw json.RawMessage) string {
	s := string(raw)
	if v.Type() == cty.String {
		s = v.AsString()
	}
	return regexp.MustCompile(`[^A-Za-z0-9._+-]+`).ReplaceAllString(s, "-")
}

// uniqueName bounds a cell's name, and ends it with the cell's number where it would
// be another's too.
func uniqueName(name string, index int, taken map[string]bool) string {
	if len(name) > maxCellName || taken[name] {
		name = fmt.Sprintf("%s,%d", name[:min(len(name), maxCellName)], index+1)
	}
	taken[name] = true
	return name
}

// matrixNotHere reports a reference to the matrix in a block that all cells share.
func (l *loader) matrixNotHere(t hcl.Traversal) {
	l.errorAt(t.SourceRange(), sumRefNotHere, "The matrix may be read in %s, which are read anew for each cell, and nowhere else.", list(perCell()))
}

// perCell are the blocks that are decoded for each cell; see loader.cell.
func perCell() []string {
	return []string{"server", "target.body", "prompt", "baseline", "ladder", "retest", "confirm"}
}

// refuseSecretByCell reports a sensitive value under a key of an object that also
// reads the matrix: the secrets of a plan are the same for all its cells.
func (f *fields) refuseSecretByCell(name, key string) bool {
	expr := f.attrs[name].Expr
	if object, ok := expr.(*hclsyntax.ObjectConsExpr); ok {
		expr = itemOf(object, key)
	}
	if expr == nil || !readsMatrix(expr) {
		return false
	}
	f.l.errorAt(expr.Range(), sumSecretByCell, "%q in %s of %s is sensitive, and is made from the matrix too. A secret is one for all cells: "+
		"write it by itself, and what the matrix decides under another name.", clip(key), name, f.kind)
	return true
}

// itemOf is the value under a key that is written as a word, or the whole object
// where a key must be evaluated.
func itemOf(object *hclsyntax.ObjectConsExpr, key string) hclsyntax.Expression {
	var found hclsyntax.Expression
	for _, item := range object.Items {
		if len(item.KeyExpr.Variables()) > 0 {
			return object
		}
		if k, diags := item.KeyExpr.Value(nil); !diags.HasErrors() && k.Type() == cty.String && k.AsString() == key {
			found = item.ValueExpr
		}
	}
	return found
}

func readsMatrix(expr hclsyntax.Expression) bool {
	return slices.ContainsFunc(expr.Variables(), func(t hcl.Traversal) bool { return t.RootName() == "matrix" })
}
