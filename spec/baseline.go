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
// prompt, the fixed batch, and the first length where the ladder raises it.
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
	if p.tokens > 0 || !ok || !p.sound {
		return out
	}
	if first.Axis != plan.AxisInputTokens {
		if f.given("prompt") {
			l.errorAt(f.rng("prompt"), sumMissingTokens, "The baseline needs a prompt with tokens; prompt.%s has none.", p.Name)
		}
		return out // else the ladder has said so
	}
	if len(first.Rungs) > 0 {
		out.Shape.InputTokens = first.Rungs[0].Shape.InputTokens
	}
	return out
}
