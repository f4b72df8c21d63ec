package spec

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"rung/spec/plan"
)

// maxRetests bounds the blocks retest of one file.
const maxRetests = 100

func retestSchema() schema {
	return schema{kind: "retest", attrs: []string{"ladder", "prompt", "warmup", "requests"}, required: []string{"ladder"}}
}

func confirmSchema() schema {
	return schema{kind: "confirm", attrs: []string{"prompt", "warmup", "requests"}}
}

// retests decodes all retest blocks, in order.
func (l *loader) retests(e cell) []plan.Retest {
	var out []plan.Retest
	for _, b := range l.blocksOf("retest") {
		if len(out) == maxRetests {
			l.errorAt(b.DefRange(), sumTooMany, "A file may have %d blocks retest.", maxRetests)
			break
		}
		f := l.open(b, retestSchema())
		r := plan.Retest{Ladder: f.ladderOf(e.ladders), Warmup: f.count("warmup", 3, 0, maxCount), Requests: f.count("requests", 100, 1, maxCount)}
		if p, ok := f.promptOf(e.prompts); ok && f.measured(p, e.target.api) {
			r.Prompt, r.Tokens, r.Output = p.Prompt, p.tokens, p.output
		}
		out = append(out, r)
	}
	return out
}

// ladderOf finds the ladder whose limit is tested again: one that has a limit.
func (f *fields) ladderOf(all []ladder) string {
	attr := f.attrs["ladder"]
	if attr == nil {
		return ""
	}
	names := make([]string, len(all))
	for i, d := range all {
		names[i] = d.Name
	}
	name, ok := f.reference(attr, "ladder", names, sumUnknownLadder)
	if !ok {
		return ""
	}
	if d := all[slices.Index(names, name)]; d.Axis != "" && !d.Axis.HasKnee() {
		f.l.errorAt(f.rng("ladder"), sumNotOnAxis, "ladder.%s raises %s, which gives no limit to test. A retest is of a ladder of batch or concurrency.", name, d.Axis)
	}
	return name
}

// measured says that a prompt has the lengths which no ladder sets here, or why not.
func (f *fields) measured(p prompt, api plan.API) bool {
	for _, n := range p.lengths(api) {
		if n.tokens == 0 && p.sound {
			f.l.errorAt(f.rng("prompt"), sumMissingTokens, "%s needs a prompt with %s; prompt.%s (line %d) has none.", f.kind, n.attr, p.Name, p.rng.Start.Line)
			return false
		}
	}
	return true
}

// confirm decodes the check of all limits at once; nil without the block.
func (l *loader) confirm(b *hclsyntax.Block, e cell) *plan.Check {
	if b == nil {
		return nil
	}
	f := l.open(b, confirmSchema())
	c := plan.Check{Warmup: f.count("warmup", 3, 0, maxCount), Requests: f.count("requests", 200, 1, maxCount)}
	if len(e.ladders) > 0 && !slices.ContainsFunc(e.ladders, func(d ladder) bool { return d.Axis == "" || d.Axis.HasKnee() }) {
		l.errorAt(f.head(), sumOnlyWith, "confirm sends requests at the limits, and no ladder gives one: that takes a ladder of batch or concurrency.")
	}
	var p prompt
	ok := false
	switch {
	case f.given("prompt"):
		p, ok = f.promptOf(e.prompts)
	case len(e.ladders) > 0:
		p = e.ladders[0].prompt
		ok = p.Name != ""
	}
	if ok && f.measured(p, e.target.api) {
		c.Prompt, c.Tokens, c.Output = p.Prompt, p.tokens, p.output
	}
	return &c
}
