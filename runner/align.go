package runner

import (
	"context"
	"fmt"

	"rung/sinks/record"
	"rung/spec/plan"
)

// alignByUsage is for a server whose answers count other tokens than its tokenise
// endpoint: what an answer counts is what the model was given. Where the two differ
// by as much at two lengths, the prompts are made by the answers' count; else no
// length can be made exactly. row is the answer at the first length.
func (p *Prepared) alignByUsage(ctx context.Context, shape plan.Shape, m *material, row record.Request) error {
	first, counted := row.InputTokensPlanned, *row.InputTokens
	second := p.otherLength(shape, first)
	usage, err := p.usageOf(ctx, shape, m, second)
	if err != nil {
		return err
	}
	extra := counted - first
	both := fmt.Sprintf("the tokenise endpoint counts %d and %d tokens, the usage of its answers %d and %d", first, second, counted, usage)
	if usage-second != extra {
		return fmt.Errorf("%w: %s", errNoExactLength, both)
	}
	count := m.texts.Count
	m.texts.Count = func(ctx context.Context, text string) (int, error) {
		n, err := count(ctx, text)
		return n + extra, err
	}
	m.texts.Overhead = max(0, m.texts.Overhead+extra)
	p.server.TemplateExtra = m.texts.Overhead
	row, err = p.probe(ctx, m, shape, true)
	switch {
	case err != nil:
		return err
	case row.Outcome == record.TokenMismatch:
		return fmt.Errorf("%w: %s, then %s", errNoExactLength, both, row.Error)
	case row.Outcome != record.OK:
		return p.errProbe(row)
	}
	p.warnings = append(p.warnings, fmt.Sprintf("prompt %q: %s: prompts are as long as planned by the usage", m.prompt.Name, both))
	p.checkOutput(row)
	return nil
}

// otherLength is far enough from a length that a factor shows between the two, and
// not over what the server takes.
func (p *Prepared) otherLength(shape plan.Shape, n int) int {
	const apart = 16
	longer := n + max(n, apart)
	if limit := p.server.MaxModelLen; limit != nil && longer+shape.OutputTokens > *limit {
		return max(1, n/2)
	}
	return longer
}
