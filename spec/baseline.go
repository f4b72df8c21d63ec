package spec

import (
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"rung/spec/plan"
)

// baseline is the decoded block. It runs whether the file has it or not.
type baseline struct{ plan.Baseline }

func baselineSchema() schema {
	return schema{kind: "baseline", attrs: []string{"idle", "prompt", "warmup", "requests"}}
}

// baseline decodes the block. What it leaves out comes from the first ladder: the
// prompt, the fixed batch, and the first length of those that the ladder raises.
func (l *loader) baseline(b *hclsyntax.Block, e cell) baseline {
	f := l.absent(baselineSchema())
	if b != nil {
		f = l.open(b, baselineSchema())
	}
	var out baseline
	out.Idle = plan.Duration(f.duration("idle", 10*time.Second, 0, 24*time.Hour))
	out.Warmup = f.count("warmup", 5, 0, maxCount)
	out.Requests = f.count("requests", 60, 1, maxCount)
	if len(e.ladders) == 0 {
		if f.given("prompt") {
			f.promptOf(e.prompts)
		}
		return out
	}
	first := e.ladders[0]
	p, ok := first.prompt, first.prompt.Name != ""
	if f.given("prompt") {
		p, ok = f.promptOf(e.prompts)
	}
	out.Prompt = p.Prompt
	out.Shape = plan.Shape{Batch: first.fixedBatch(), InputTokens: p.tokens, OutputTokens: p.output, InFlight: 1}
	if ok && p.sound {
		l.baselineLengths(f, &out, p, first, e.target.api)
	}
	return out
}

// baselineLengths gives what the prompt leaves out the length of the ladder's first
// rung, where that raises it.
func (l *loader) baselineLengths(f *fields, out *baseline, p prompt, first ladder, api plan.API) {
	for _, n := range p.lengths(api) {
		switch {
		case n.tokens > 0:
		case first.Axis != n.axis:
			if f.given("prompt") { // else the ladder has said so
				l.errorAt(f.rng("prompt"), sumMissingTokens, "The baseline needs a prompt with %s; prompt.%s has none.", n.attr, p.Name)
			}
		case len(first.Rungs) > 0 && n.axis == plan.AxisInputTokens:
			out.Shape.InputTokens = first.Rungs[0].Shape.InputTokens
		case len(first.Rungs) > 0:
			out.Shape.OutputTokens = first.Rungs[0].Shape.OutputTokens
		}
	}
}
