package spec

import (
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"rung/spec/plan"
)

func simulatorSchema() schema {
	return schema{kind: "simulator", blocks: []string{"fault"}, many: []string{"fault"},
		attrs: []string{"overhead", "floor", "per_token", "per_output_token", "noise", "max_batch",
			"slots", "max_input_tokens", "special_tokens", "memory_total", "memory_idle", "memory_per_token",
			"decode_slowdown", "tokens_per_chunk", "answer_tokens", "early_stop", "log_chunks", "prefix_cache", "cache_block",
			"max_queue", "queue_status", "max_client_batch", "preallocate", "fragment_after", "fragment_tokens", "fragment_step",
			"memory_per_input", "memory_per_pair", "spill_factor", "oom_tokens", "oom_status", "oom_kills", "throttle_at", "throttle_for", "throttle_share", "idle_clock_after", "idle_clock_delay",
			"bound", "compile", "count_offset", "tokenise_factor"}}
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
	f.simulatedAnswers(&s)
	f.simulatedQueue(&s)
	f.simulatedMemory(&s)
	f.simulatedClocks(&s)
	for _, fault := range f.many["fault"] {
		s.Faults = append(s.Faults, l.fault(fault))
	}
	return &s
}

// beside gives the zero value where a value is the default that stands for it, so
// that to write a default out changes no hash.
func beside[T comparable](v, def T) T {
	if v == def {
		var zero T
		return zero
	}
	return v
}

// simulatedAnswers decodes what the texts and counts of the answers are like.
func (f *fields) simulatedAnswers(s *plan.Simulator) {
	s.DecodeSlowdown = f.real("decode_slowdown", 0, 0, 10)
	s.TokensPerChunk = beside(f.count("tokens_per_chunk", 1, 1, 1_000), 1)
	s.AnswerTokens = f.count("answer_tokens", 0, 1, maxRung)
	s.EarlyStop = f.real("early_stop", 0, 0, 1)
	s.LogChunks = f.truth("log_chunks", false)
	s.PrefixCache = f.truth("prefix_cache", false)
	s.CacheBlock = beside(f.count("cache_block", 16, 1, 4_096), 16)
	if !s.PrefixCache {
		f.refuse(sumOnlyWith, "belongs to prefix_cache = true.", "cache_block")
	}
	s.Compile = plan.Duration(f.duration("compile", 0, 0, time.Hour))
	s.CountOffset = f.count("count_offset", 0, 0, 1_000)
	s.TokeniseFactor = beside(f.real("tokenise_factor", 1, 0.1, 10), 1)
}

func (f *fields) simulatedQueue(s *plan.Simulator) {
	s.MaxQueue = f.count("max_queue", 0, 1, maxRung)
	s.QueueStatus = beside(f.oneOf("queue_status", 429, 503), 429)
	f.needs("max_queue", "queue_status")
	s.MaxClientBatch = f.count("max_client_batch", 0, 1, maxRung)
}

// simulatedMemory decodes the kinds of memory beside the growing one.
func (f *fields) simulatedMemory(s *plan.Simulator) {
	s.Preallocate = f.real("preallocate", 0, 0, 1)
	if pool := int64(s.Preallocate * float64(s.MemoryTotal)); s.Preallocate > 0 && pool < s.MemoryIdle+s.MemoryPerToken {
		f.l.errorAt(f.rng("preallocate"), sumOutOfRange, "preallocate of simulator takes %d bytes, and the loaded model alone (memory_idle) has %d: there is no room for a token.", pool, s.MemoryIdle)
	}
	s.FragmentAfter = f.count("fragment_after", 0, 1, maxRung)
	s.FragmentTokens = f.count("fragment_tokens", 0, 0, maxRung)
	s.FragmentStep = f.size("fragment_step", 0)
	f.needs("fragment_after", "fragment_tokens", "fragment_step")
	if f.given("fragment_after") && !f.given("fragment_step") {
		f.l.errorAt(f.rng("fragment_after"), sumMissingAttr, `fragment_after of simulator needs the attribute fragment_step, what each forward leaves behind, as "64MiB".`)
	}
	s.MemoryPerInput, s.MemoryPerPair = f.size("memory_per_input", 0), f.size("memory_per_pair", 0)
	s.SpillFactor = f.real("spill_factor", 0, 1, 1_000)
	if f.given("spill_factor") {
		f.refuse(sumNotTogether, "can't stand beside spill_factor: memory that is taken at the start is never exceeded.", "preallocate")
	}
	s.OOMTokens = f.count("oom_tokens", 0, 1, maxRung)
	s.OOMStatus = beside(f.oneOf("oom_status", 500, 424), 500)
	s.OOMKills = f.truth("oom_kills", false)
	if s.OOMKills {
		f.refuse(sumNotTogether, "can't stand beside oom_kills: a server that dies gives no answer.", "oom_status")
	}
}

// simulatedClocks decodes what the card's clocks do.
func (f *fields) simulatedClocks(s *plan.Simulator) {
	s.ThrottleAt = plan.Duration(f.duration("throttle_at", 0, 0, 24*time.Hour))
	s.ThrottleFor = plan.Duration(f.duration("throttle_for", 0, 0, 24*time.Hour))
	s.ThrottleShare = f.real("throttle_share", 0, 0, 0.95)
	f.needs("throttle_share", "throttle_at", "throttle_for")
	s.IdleClockAfter = plan.Duration(f.duration("idle_clock_after", 0, time.Millisecond, 24*time.Hour))
	const rise = 20 * time.Millisecond
	s.IdleClockDelay = plan.Duration(beside(f.duration("idle_clock_delay", rise, time.Microsecond, time.Hour), rise))
	f.needs("idle_clock_after", "idle_clock_delay")
	s.Bound = beside(f.choice("bound", "compute", []string{"compute", "host", "bandwidth"}), "compute")
}

// needs refuses attributes that mean nothing without another.
func (f *fields) needs(other string, names ...string) {
	if !f.given(other) {
		f.refuse(sumOnlyWith, "belongs to "+other+", which is not there.", names...)
	}
}

// oneOf reads one of a few numbers, of which the first is the default.
func (f *fields) oneOf(name string, have ...int) int {
	n := f.count(name, have[0], 0, maxRung)
	if !slices.Contains(have, n) {
		f.l.errorAt(f.rng(name), sumBadChoice, "%s of %s must be one of %v; this is %d.", name, f.kind, have, n)
		return have[0]
	}
	return n
}
