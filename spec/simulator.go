package spec

import (
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"rung/spec/plan"
)

func simulatorSchema() schema {
	return schema{kind: "simulator", attrs: []string{"overhead", "floor", "per_token", "per_output_token", "noise", "max_batch",
		"slots", "max_input_tokens", "special_tokens", "memory_total", "memory_idle", "memory_per_token"}}
}

// simulator decodes the parameters of the simulated server; nil without the block.
func (l *loader) simulator(b *hclsyntax.Block) *plan.Simulator {
	if b == nil {
		return nil
	}
	f, s := l.open(b, simulatorSchema()), plan.DefaultSimulator()
	for name, field := range map[string]*plan.Duration{
		"overhead": &s.Overhead, "floor": &s.Floor, "per_token": &s.PerToken, "per_output_token": &s.PerOutputToken,
	} {
		*field = plan.Duration(f.duration(name, field.D(), 0, time.Hour))
	}
	s.Noise = f.real("noise", s.Noise, 0, 1)
	s.MaxBatch = f.count("max_batch", s.MaxBatch, 1, maxRung)
	s.Slots = f.count("slots", s.Slots, 1, maxRung)
	s.MaxInputTokens = f.count("max_input_tokens", s.MaxInputTokens, 1, maxRung)
	s.SpecialTokens = f.count("special_tokens", s.SpecialTokens, 0, 1_000)
	for name, field := range map[string]*int64{
		"memory_total": &s.MemoryTotal, "memory_idle": &s.MemoryIdle, "memory_per_token": &s.MemoryPerToken,
	} {
		*field = f.size(name, *field)
	}
	if s.MemoryIdle > s.MemoryTotal {
		l.errorAt(f.head(), sumOutOfRange, "memory_idle of simulator (%d bytes) is more than memory_total (%d bytes).", s.MemoryIdle, s.MemoryTotal)
	}
	return &s
}
