package serverlog

import (
	"regexp"
	"strings"

	"rung/runner/target"
	"rung/sinks/record"
)

// pattern is what lines of a kind look like.
type pattern struct {
	kind  record.EventKind
	words *regexp.Regexp
}

// patterns are tried in order, and the first that matches says what a line is about.
//
//nolint:gochecknoglobals // a constant table of compiled expressions
var patterns = []pattern{
	{record.LogFault, regexp.MustCompile(`EngineCore encountered a fatal error|EngineDeadError|died unexpectedly|[Ss]egmentation fault|GGML_ASSERT|panicked at|Fatal Python error|terminate called after`)},

	// vLLM's figures every ten seconds; SGLang's with each batch.
	{record.LogQueue, regexp.MustCompile(`Running: \d+ reqs, Waiting: [1-9]\d* reqs|#queue-req: [1-9]`)},
	{record.LogBatch, regexp.MustCompile(`Running: \d+ reqs, Waiting: 0 reqs|(Prefill|Decode) batch\b.*#queue-req: 0`)},
	// SGLang, an older vLLM, llama.cpp.
	{record.LogQueue, regexp.MustCompile(`Retract requests|is preempted by|no slot is available, defer|failed to find free space in the KV cache`)},
	{record.LogBatch, regexp.MustCompile(`retrying batch size \d+|retrying with smaller batch size`)},

	// An access log's 429 and 503; TEI, SGLang, vLLM, Infinity, llama.cpp.
	{record.LogRefused, regexp.MustCompile(`"POST [^"]*" (429|503)\b|Model is overloaded|The request queue is full|engine is currently busy|is currently overloaded|batch size \d+ > maximum allowed batch size|exceeds the available context size|is too large to process|Input validation error`)},

	// vLLM, TEI, llama.cpp, SGLang, Infinity.
	{record.LogSetting, regexp.MustCompile("exceeds available Mamba cache|exceeds max_num_seqs|max_model_len .*(is larger|greater) than|" +
		"Backend does not support a batch size|forcing `max_batch_requests|" +
		`n_ctx_(seq|slot|per_seq) \(\d+\) ([<>]|exceeds)|rounding down to \d+|context size reduced from|n_ctx_train adjusted|` +
		`max_total_tokens=\d+ is larger than the profiled value|will be truncated|clamping to \d+|high batch delay of|queue_size=\d+ to small`)},
}

// hints are words of which one is in every line that matters: to look for them is a
// hundred times faster than to match, and a server that prints without end must not be
// held up by whoever reads it.
//
//nolint:gochecknoglobals // a constant list; Go has no constant slices
var hints = [...]string{"emory", "alloc", "oom", "OOM", "ALLOC", "CUDA", "cuda", "CUBLAS", "CUDNN", "NCCL", "OutOf", "rror", "assert", "ASSERT", "panicked", "fault", "terminate called", "died",
	" reqs", "queue", "batch", "slot", "preempted", "Retract", `" 429`, `" 503`, "overloaded", "busy", "exceeds", "too large", "n_ctx", "max_", "Using max", "truncated", "rounding", "reduced", "clamping", "KV cache"}

// hinted says that a line may matter.
func hinted(line string) bool {
	for _, h := range hints {
		if strings.Contains(line, h) {
			return true
		}
	}
	return false
}

// memoryAtStart is how vLLM says that the model leaves no memory for tokens.
var memoryAtStart = regexp.MustCompile(`No available memory for the cache blocks`)

// aboutRequest is a line that tells a request or its answer, with their texts: what they
// say is not the server's.
var aboutRequest = regexp.MustCompile(`Received request \S+: (prompt|params)|prompt: ['"]|Generated response`)

// Kind says what a line is about; empty where it explains nothing.
func Kind(line string) record.EventKind {
	if aboutRequest.MatchString(line) {
		return ""
	}
	switch {
	case target.SaysOOM(line), memoryAtStart.MatchString(line):
		return record.LogOOM
	case target.SaysCUDA(line):
		return record.LogFault
	}
	for _, p := range patterns {
		if p.words.MatchString(line) {
			return p.kind
		}
	}
	return ""
}
