package spec

import (
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"rung/spec/plan"
)

// forP95 is the least number of requests of which the slowest is, with 95 % confidence,
// no faster than their P95: 0.95^59 < 0.05.
const forP95 = 59

// samplesARound is what the GPU's figures of a round rest on at least.
const samplesARound = 5

// advise warns of what can be measured and will tell little.
func (l *loader) advise(e experiment, c cell, top map[string]*hclsyntax.Block) {
	limit := l.gives(top["analysis"], "limit", "p95_ratio")
	for _, d := range c.ladders {
		l.adviseP95(d, e.rollback, limit)
		l.adviseSamples(d, e.gpuHashed)
		if d.Settle != nil && e.gpuHashed.Source == sourceNone {
			l.errorAt(d.f.blocks["settle"].DefRange(), sumOnlyWith,
				`settle waits for what the card's samples show, and with source = "none" in gpu there are none. Use cooldown.`)
		}
	}
	if c.server != nil {
		l.adviseLimits(c, top["server"])
	}
	l.adviseSimulated(e, c)
	l.adviseOnePass(c.ladders)
}

// adviseOnePass names the ladders that are walked once, in one warning of the file. A
// knee is spoken of only where one of them has one.
func (l *loader) adviseOnePass(all []ladder) {
	var once, knees []string
	var first *fields
	for _, d := range all {
		if !d.once || d.Axis == "" {
			continue
		}
		if first == nil {
			first = d.f
		}
		once = append(once, d.Name)
		if d.Axis.HasKnee() {
			knees = append(knees, d.Name)
		}
	}
	if first == nil {
		return
	}
	knee := ""
	switch {
	case len(knees) == len(once):
		knee = " and no confidence is given. Five passes tell a knee from a bad minute."
	case len(knees) > 0:
		knee = " and the knee of " + both(knees) + " gets no confidence. Five passes tell a knee from a bad minute."
	default:
		knee = ". Two passes and more, up and down, show it."
	}
	what := "The ladder " + once[0] + " is"
	if len(once) > 1 {
		what = "The ladders " + both(once) + " are"
	}
	l.warnAt(first.rng("passes"), sumOnePass, "%s walked once, so that drift is unseen%s", what, knee)
}

// gives says that the file itself gives an attribute of a nested block.
func (l *loader) gives(b *hclsyntax.Block, nested, attr string) bool {
	if b == nil {
		return false
	}
	for _, n := range b.Body.Blocks {
		if a := n.Body.Attributes[attr]; n.Type == nested && a != nil {
			return !l.isNull(a.Expr)
		}
	}
	return false
}

// adviseP95: a percentile that the file asks for needs requests to rest on.
func (l *loader) adviseP95(d ladder, r *plan.Rollback, limit bool) {
	var asked []string
	if d.Stop.P95OverBaseline != nil {
		asked = append(asked, "stop.p95_over_baseline")
	}
	if limit && d.Axis == plan.AxisConcurrency {
		asked = append(asked, "analysis.limit.p95_ratio")
	}
	if r != nil && r.P95 > 0 {
		asked = append(asked, "rollback.p95")
	}
	if len(asked) == 0 {
		return
	}
	for _, r := range d.Rungs {
		if n, ok := d.counted(r); ok && n < forP95 {
			l.warnAt(d.f.rng("requests"), sumFewForP95, "At rung %g all passes together count %.4g requests; a P95, which %s asks for, needs %d.",
				r.Value, n, strings.Join(asked, " and "), forP95)
			return
		}
	}
}

// adviseSamples: a round that is over before the GPU was looked at a few times says
// nothing of it.
func (l *loader) adviseSamples(d ladder, g plan.GPU) {
	if least := samplesARound * g.Interval; g.Source != sourceNone && d.duration > 0 && d.duration < least.D() {
		l.warnAt(d.f.rng("duration"), sumFewSamples, "The GPU is sampled every %s, so that a round of %s has fewer than %d samples. It needs %s.",
			g.Interval, d.duration, samplesARound, least)
	}
}
