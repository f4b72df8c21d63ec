package spec

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// value evaluates an attribute that may hold nothing sensitive; ok is false where
// the file leaves it out or it is wrong, which is then reported.
func (f *fields) value(name string) (cty.Value, bool) {
	attr := f.attrs[name]
	if attr == nil {
		return cty.NilVal, false
	}
	v, ok := f.l.evaluate(attr.Expr)
	if !ok || f.l.broken && len(attr.Expr.Variables()) > 0 {
		return cty.NilVal, false // with errors of syntax it may be unknown what is sensitive
	}
	if v.ContainsMarked() {
		f.l.errorAt(attr.Expr.Range(), sumSensitive, "%s", f.whyOpen(name))
		return cty.NilVal, false
	}
	if f.l.broken && !v.IsWhollyKnown() {
		return cty.NilVal, false // what could not be parsed evaluates to an unknown
	}
	return v, true
}

// whyOpen says why an attribute may not be sensitive.
func (f *fields) whyOpen(name string) string {
	if name == "command" {
		return "A command stands in the machine's list of processes, which all its users can read. " +
			"A server started by rung may have the value in server.env; elsewhere let the program read it from a file of its own."
	}
	return name + " of " + f.kind + " goes into the plan, the recorded files and the reports. Only target.url and the values in " +
		"target.headers, target.body and server.env may be sensitive (what env() gives always is)."
}

// typed is value, of one type.
func (f *fields) typed(name string, want cty.Type, wanted string) (cty.Value, bool) {
	v, ok := f.value(name)
	if !ok {
		return cty.NilVal, false
	}
	if v.IsNull() || !v.IsKnown() || v.Type() != want {
		f.wrongType(name, wanted, v)
		return cty.NilVal, false
	}
	return v, true
}

func (f *fields) wrongType(name, wanted string, v cty.Value) {
	f.l.errorAt(f.rng(name), sumWrongType, "%s of %s must be %s; this is %s.", name, f.kind, wanted, describe(v))
}

// wrongElement is wrongType for one element of a list.
func (f *fields) wrongElement(name, wanted string, v cty.Value) {
	f.l.errorAt(f.rng(name), sumWrongType, "%s of %s must be %s; in it is %s.", name, f.kind, wanted, describe(v))
}

// text reads a string.
func (f *fields) text(name, def string) string {
	v, ok := f.typed(name, cty.String, "a string in quotes")
	if !ok {
		return def
	}
	return v.AsString()
}

// word reads a string that has something in it.
func (f *fields) word(name string) string {
	v, ok := f.typed(name, cty.String, "a string in quotes")
	if !ok {
		return ""
	}
	s := strings.TrimSpace(v.AsString())
	if s == "" {
		f.l.errorAt(f.rng(name), sumOutOfRange, "%s of %s is empty.", name, f.kind)
	}
	return s
}

// truth reads a bool.
func (f *fields) truth(name string, def bool) bool {
	v, ok := f.typed(name, cty.Bool, "true or false")
	if !ok {
		return def
	}
	return v.True()
}

// integer reads a whole number within bounds.
func (f *fields) integer(name string, def, least, most int64) int64 {
	v, ok := f.typed(name, cty.Number, "a whole number")
	if !ok {
		return def
	}
	n, ok := whole(v)
	if !ok {
		f.wrongType(name, "a whole number", v)
		return def
	}
	if n < least || n > most {
		f.l.errorAt(f.rng(name), sumOutOfRange, "%s of %s must be between %d and %d; this is %d.", name, f.kind, least, most, n)
		return def
	}
	return n
}

// count is integer for what is counted in ints.
func (f *fields) count(name string, def, least, most int) int {
	return int(f.integer(name, int64(def), int64(least), int64(most)))
}

// whole gives a number's value where it is a whole one; one that does not fit gives
// the nearest that does, which is outside all bounds.
func whole(v cty.Value) (int64, bool) {
	n, _ := v.AsBigFloat().Int64()
	return n, v.AsBigFloat().IsInt()
}

// real reads a number within bounds, both included.
func (f *fields) real(name string, def, least, most float64) float64 {
	x, ok := f.number(name)
	if !ok {
		return def
	}
	if x < least || x > most {
		f.l.errorAt(f.rng(name), sumOutOfRange, "%s of %s must be between %g and %g; this is %g.", name, f.kind, least, most, x)
		return def
	}
	return x
}

func (f *fields) number(name string) (float64, bool) {
	v, ok := f.typed(name, cty.Number, "a number")
	if !ok {
		return 0, false
	}
	x, _ := v.AsBigFloat().Float64()
	return x, true
}

// share reads a part of a whole that may be left out: nil where it is, or is wrong.
func (f *fields) share(name string) *float64 {
	x := f.real(name, -1, 0, 1)
	if x < 0 {
		return nil
	}
	return &x
}

// inside reads a number that may be left out and lies between two bounds, neither
// included.
func (f *fields) inside(name string, least, most float64) *float64 {
	x, ok := f.number(name)
	if !ok {
		return nil
	}
	if x <= least || x >= most {
		f.l.errorAt(f.rng(name), sumOutOfRange, "%s of %s must be more than %g and less than %g; this is %g.", name, f.kind, least, most, x)
		return nil
	}
	return &x
}

// duration reads a time within bounds.
func (f *fields) duration(name string, def, least, most time.Duration) time.Duration {
	v, ok := f.typed(name, cty.String, `a time with a unit, as "200ms"`)
	if !ok {
		return def
	}
	d, err := time.ParseDuration(v.AsString())
	if err != nil {
		f.l.errorAt(f.rng(name), sumBadDuration, `%s of %s must be a time with a unit, as "200ms", "3s" or "1m30s"; this is %q.`,
			name, f.kind, clip(v.AsString()))
		return def
	}
	if d < least || d > most {
		f.l.errorAt(f.rng(name), sumOutOfRange, "%s of %s must be between %s and %s; this is %s.", name, f.kind, least, most, d)
		return def
	}
	return d
}

// size reads a number of bytes.
func (f *fields) size(name string, def int64) int64 {
	v, ok := f.typed(name, cty.String, `a size with a unit, as "16GiB"`)
	if !ok {
		return def
	}
	n, ok := parseSize(v.AsString())
	if !ok {
		f.l.errorAt(f.rng(name), sumBadSize, `%s of %s must be a size in whole bytes with a unit (%s), as "16GiB" or "512KiB"; this is %q.`,
			name, f.kind, list(sizeUnits()), clip(v.AsString()))
		return def
	}
	return n
}

// choice reads one of a few words.
func (f *fields) choice(name, def string, have []string) string {
	if word := f.bareWord(name, have); word != "" {
		f.l.errorAt(f.rng(name), sumBadChoice, "%s of %s stands in quotes. Did you mean %q?", name, f.kind, word)
		return def
	}
	word, ok := f.typed(name, cty.String, "one of "+list(quoted(have)))
	if !ok {
		return def
	}
	return f.l.choose(f.rng(name), name+" of "+f.kind, word.AsString(), def, have)
}

// bareWord is the one of a few words that stands without its quotes, or a slip of it.
func (f *fields) bareWord(name string, have []string) string {
	attr := f.attrs[name]
	if attr == nil {
		return ""
	}
	word := hcl.ExprAsKeyword(attr.Expr)
	if word == "true" || word == "false" || word == "null" {
		return ""
	}
	return nearest(word, have)
}

// choose checks one word.
func (l *loader) choose(rng hcl.Range, what, word, def string, have []string) string {
	if slices.Contains(have, word) {
		return word
	}
	l.errorAt(rng, sumBadChoice, "%s must be %s; this is %q.%s", what, list(quoted(have)), clip(word),
		didYouMean(word, have))
	return def
}

func quoted(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = strconv.Quote(w)
	}
	return out
}

// elements reads a list, at most so long.
func (f *fields) elements(name, wanted string, most int) ([]cty.Value, bool) {
	v, ok := f.value(name)
	if !ok {
		return nil, false
	}
	if !isList(v) {
		f.wrongType(name, wanted, v)
		return nil, false
	}
	if n := v.LengthInt(); n > most {
		f.l.errorAt(f.rng(name), sumOutOfRange, "%s of %s may have %d elements; this has %d.", name, f.kind, most, n)
		return nil, false
	}
	return v.AsValueSlice(), true
}

func isList(v cty.Value) bool {
	ty := v.Type()
	return !v.IsNull() && v.IsKnown() && (ty.IsTupleType() || ty.IsListType() || ty.IsSetType())
}

// texts reads a list of strings.
func (f *fields) texts(name string, def []string, most int) []string {
	const wanted = "a list of strings in quotes"
	values, ok := f.elements(name, wanted, most)
	if !ok {
		return def
	}
	out := make([]string, 0, len(values))
	for _, v := range values {
		if v.Type() != cty.String || v.IsNull() {
			f.wrongElement(name, wanted, v)
			return def
		}
		out = append(out, v.AsString())
	}
	return out
}

// counts reads a list of positive whole numbers.
func (f *fields) counts(name string, most, each int) []int {
	const wanted = "a list of whole numbers"
	values, ok := f.elements(name, wanted, most)
	if !ok {
		return nil
	}
	out := make([]int, 0, len(values))
	for _, v := range values {
		if v.Type() != cty.Number || v.IsNull() {
			f.wrongElement(name, wanted, v)
			return nil
		}
		n, ok := whole(v)
		if !ok {
			f.wrongElement(name, wanted, v)
			return nil
		}
		if n < 1 || n > int64(each) {
			f.l.errorAt(f.rng(name), sumOutOfRange, "Each of %s must be between 1 and %d; one is %d.", name, each, n)
			return nil
		}
		out = append(out, int(n))
	}
	return out
}

// reals reads a list of numbers within bounds, both included.
func (f *fields) reals(name string, most int, least, each float64) []float64 {
	const wanted = "a list of numbers"
	values, ok := f.elements(name, wanted, most)
	if !ok {
		return nil
	}
	out := make([]float64, 0, len(values))
	for _, v := range values {
		if v.Type() != cty.Number || v.IsNull() {
			f.wrongElement(name, wanted, v)
			return nil
		}
		x, _ := v.AsBigFloat().Float64()
		if x < least || x > each {
			f.l.errorAt(f.rng(name), sumOutOfRange, "Each of %s must be between %g and %g; one is %g.", name, least, each, x)
			return nil
		}
		out = append(out, x)
	}
	return out
}

// command reads a program and its arguments.
func (f *fields) command() []string {
	args := f.texts("command", nil, 1_000)
	switch {
	case args == nil:
	case len(args) == 0 || strings.TrimSpace(args[0]) == "":
		f.l.errorAt(f.rng("command"), sumOutOfRange, `command of %s names no program. Its first element is one, as in ["program", "argument"].`, f.kind)
	case slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "\x00") }):
		f.l.errorAt(f.rng("command"), sumOutOfRange, "command of %s has an argument with a zero byte, which no program can be given.", f.kind)
	}
	return args
}

// kindOnly is describe without the value.
func kindOnly(v cty.Value) string {
	switch ty := v.Type(); {
	case v.IsNull():
		return "null"
	case !v.IsKnown():
		return "unknown"
	case ty == cty.String:
		return "a string"
	case ty == cty.Number:
		return "a number"
	case ty == cty.Bool:
		return "a bool"
	default:
		return describe(v)
	}
}

// describe says what a value is, for a detail. It is asked only of values that
// are not sensitive.
func describe(v cty.Value) string {
	ty := v.Type()
	switch {
	case v.IsNull():
		return "null"
	case !v.IsKnown():
		return "unknown"
	case ty == cty.String:
		return "the string " + strconv.Quote(clip(v.AsString()))
	case ty == cty.Number:
		return "the number " + clip(v.AsBigFloat().Text('g', 12))
	case ty == cty.Bool:
		return "the bool " + strconv.FormatBool(v.True())
	case ty.IsTupleType() || ty.IsListType() || ty.IsSetType():
		return "a list"
	default:
		return "an object"
	}
}
