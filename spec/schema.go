package spec

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// schema says what may stand in a block of one kind.
type schema struct {
	kind     string
	labels   int
	attrs    []string
	required []string
	blocks   []string // nested, each at most once
	many     []string // of these, those that may stand there several times
	nulls    bool     // an attribute may be null; elsewhere that leaves it out
}

// schemas are those of all blocks, nested ones too.
func schemas() []schema {
	return []schema{fileSchema(), variableSchema(), targetSchema(), timeoutSchema(), simulatorSchema(), promptSchema(),
		ladderSchema(), stopSchema(), kneeSchema(), experimentSchema(), gpuSchema(), baselineSchema(), analysisSchema(),
		limitSchema(), headroomSchema(), baselineCheckSchema(), configSchema(), serverSchema(), readySchema(), serverStopSchema(),
		metricsSchema(), sloSchema(), rollbackSchema(), formSchema(), settleSchema(), retestSchema(), confirmSchema(), validationSchema(), faultSchema()}
}

// blocksWith are the kinds of the blocks that have an attribute.
func blocksWith(attr string) []string {
	var out []string
	for _, s := range schemas() {
		if slices.Contains(s.attrs, attr) && !slices.Contains(out, s.kind) {
			out = append(out, s.kind)
		}
	}
	return out
}

// fields is a block whose attributes and nested blocks were checked against its
// schema. Its getters evaluate, check and report; where something is wrong they
// give the default, so that the rest of the file is looked at too. The fields of
// a block that the file does not have give all defaults.
type fields struct {
	l      *loader
	kind   string
	block  *hclsyntax.Block // nil where the file has none
	attrs  map[string]*hclsyntax.Attribute
	blocks map[string]*hclsyntax.Block
	empty  bool // no attribute stands in it that is not null
	many   map[string][]*hclsyntax.Block
}

// absent are the fields of a block that the file does not have.
func (l *loader) absent(s schema) *fields { return &fields{l: l, kind: s.kind} }

// open checks a block against its schema.
func (l *loader) open(b *hclsyntax.Block, s schema) *fields {
	f := &fields{l: l, kind: s.kind, block: b, attrs: map[string]*hclsyntax.Attribute{}, blocks: map[string]*hclsyntax.Block{}, many: map[string][]*hclsyntax.Block{}}
	l.checkLabels(b, s)
	slips := map[string]bool{} // what attributes are for whose names are wrong
	f.empty = true
	for name, attr := range b.Body.Attributes {
		if !slices.Contains(s.attrs, name) {
			l.strayAttr(attr, s)
			slips[meant(name, s.attrs)] = true
			f.empty = false
		} else if s.nulls || !l.isNull(attr.Expr) {
			f.attrs[name] = attr
			f.empty = false
		}
	}
	for _, nested := range b.Body.Blocks {
		first, twice := f.blocks[nested.Type]
		switch {
		case !slices.Contains(s.blocks, nested.Type):
			l.strayBlock(nested, s)
		case slices.Contains(s.many, nested.Type):
			f.many[nested.Type] = append(f.many[nested.Type], nested)
		case twice:
			l.duplicate(nested, first)
		default:
			f.blocks[nested.Type] = nested
		}
	}
	for _, name := range s.required {
		if f.attrs[name] == nil && !slips[name] {
			l.errorAt(b.DefRange(), sumMissingAttr, "%s needs the attribute %q.", blockName(b), name)
		}
	}
	return f
}

func (l *loader) checkLabels(b *hclsyntax.Block, s schema) {
	if len(b.Labels) == s.labels {
		return
	}
	if s.labels == 0 {
		l.errorAt(b.DefRange(), sumLabels, "%s takes no label.", s.kind)
		return
	}
	l.errorAt(b.DefRange(), sumLabels, "%s takes one label, its name, as in: %s \"name\" { }.", s.kind, s.kind)
}

func (l *loader) strayAttr(a *hclsyntax.Attribute, s schema) {
	hint := didYouMean(a.Name, s.attrs)
	if hint == "" && slices.Contains(s.blocks, a.Name) {
		hint = fmt.Sprintf(" It is a block: %s { }.", a.Name)
	}
	if others := blocksWith(a.Name); hint == "" && len(others) > 0 {
		hint = fmt.Sprintf(" It stands in %s.", list(others))
	}
	if hint == "" && len(s.attrs) > 0 {
		hint = fmt.Sprintf(" It takes %s.", list(s.attrs))
	}
	l.errorAt(a.NameRange, sumUnknownAttr, "%s has no attribute %q.%s", s.kind, clip(a.Name), hint)
}

func (l *loader) strayBlock(b *hclsyntax.Block, s schema) {
	hint := didYouMean(b.Type, s.blocks)
	if hint == "" && slices.Contains(s.attrs, b.Type) {
		hint = fmt.Sprintf(" It is an attribute: %s = ...", b.Type)
	}
	if hint == "" && len(s.blocks) > 0 {
		hint = fmt.Sprintf(" It takes %s.", list(s.blocks))
	}
	l.errorAt(b.TypeRange, sumUnknownBlock, "%s has no block %q.%s", s.kind, clip(b.Type), hint)
}

func (l *loader) duplicate(b, first *hclsyntax.Block) {
	l.errorAt(b.DefRange(), sumDuplicateBlock, "%s stands already on line %d.", blockName(first), first.DefRange().Start.Line)
}

// sub opens a nested block, which the file may lack.
func (f *fields) sub(s schema) *fields {
	if b := f.blocks[s.kind]; b != nil {
		return f.l.open(b, s)
	}
	return f.l.absent(s)
}

// refuse reports those of the attributes and nested blocks that the file has, and
// why they can't stand there.
func (f *fields) refuse(s summary, why string, names ...string) {
	for _, name := range names {
		if a := f.attrs[name]; a != nil {
			f.l.errorAt(a.NameRange, s, "%s of %s %s", name, f.kind, why)
		}
		if b := f.blocks[name]; b != nil {
			f.l.errorAt(b.DefRange(), s, "%s of %s %s", name, f.kind, why)
		}
	}
}

// excludes reports an attribute or block that can't stand beside another.
func (f *fields) excludes(name, other, why string) {
	if f.given(other) || f.blocks[other] != nil {
		f.refuse(sumNotTogether, why, name)
	}
}

// given says that the file has the attribute, right or wrong.
func (f *fields) given(name string) bool { return f.attrs[name] != nil }

// rng is where to point for an attribute: its value, or the block's head where the
// file leaves it out.
func (f *fields) rng(name string) hcl.Range {
	if a := f.attrs[name]; a != nil {
		return a.Expr.Range()
	}
	return f.head()
}

// head is the block's first words. The fields of an absent block have none.
func (f *fields) head() hcl.Range {
	if f.block == nil {
		return hcl.Range{Filename: f.l.path, Start: hcl.InitialPos, End: hcl.InitialPos}
	}
	return f.block.DefRange()
}

// label is the block's name, or "" where it has none that is usable.
func (f *fields) label() string {
	if f.block == nil || len(f.block.Labels) != 1 {
		return ""
	}
	return f.block.Labels[0]
}

func blockName(b *hclsyntax.Block) string {
	words := []string{clip(b.Type)}
	for _, l := range b.Labels {
		words = append(words, strconv.Quote(clip(l)))
	}
	return strings.Join(words, " ")
}

// sortedKeys is for loops over a map whose order may be seen.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
