package spec

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// locals evaluates the attributes of all locals blocks, each after those that it
// needs.
func (l *loader) locals() {
	all := map[string]*hclsyntax.Attribute{}
	for _, b := range l.blocksOf("locals") {
		l.checkLabels(b, schema{kind: "locals"})
		for _, nested := range b.Body.Blocks {
			l.strayBlock(nested, schema{kind: "locals"})
		}
		for _, name := range inOrder(b.Body.Attributes) {
			a := b.Body.Attributes[name]
			if first := all[name]; first != nil {
				l.errorAt(a.NameRange, sumDuplicateLocal, "local.%s stands already on line %d.", name, first.NameRange.Start.Line)
				continue
			}
			if len(all) == maxNames {
				l.errorAt(a.NameRange, sumTooMany, "A file may declare %d locals.", maxNames)
				return
			}
			all[name] = a
			l.locs.declared[name] = a.NameRange
		}
	}
	w := localWalk{l: l, attrs: all, state: map[string]int{}}
	for _, name := range sortedKeys(all) {
		w.visit(name)
	}
}

// inOrder gives the names of attributes as they stand in the file.
func inOrder(attrs hclsyntax.Attributes) []string {
	return slices.SortedFunc(slices.Values(sortedKeys(attrs)), func(a, b string) int {
		return attrs[a].NameRange.Start.Byte - attrs[b].NameRange.Start.Byte
	})
}

// States of a local on the walk.
const (
	entered = iota + 1
	left
)

// localWalk visits locals depth first.
type localWalk struct {
	l     *loader
	attrs map[string]*hclsyntax.Attribute
	state map[string]int
}

func (w *localWalk) visit(name string) {
	a := w.attrs[name]
	if a == nil || w.state[name] == left {
		return
	}
	if w.state[name] == entered {
		w.l.errorAt(a.NameRange, sumCycle, "local.%s needs itself, by way of others or at once.", name)
		return
	}
	w.state[name] = entered
	for _, t := range a.Expr.Variables() {
		if t.RootName() == "local" && len(t) > 1 {
			if dep, ok := stepName(t[1]); ok {
				w.visit(dep)
			}
		}
	}
	w.state[name] = left
	if v, ok := w.l.evaluate(a.Expr); ok {
		w.l.locs.values[name] = v
	}
}

// stepName is the name that a step of a reference takes.
func stepName(s hcl.Traverser) (string, bool) {
	a, ok := s.(hcl.TraverseAttr)
	return a.Name, ok
}
