package settings

import (
	"regexp"
	"strings"

	"rung/sinks/record"
)

// Log is the source of what a line of the server's log says.
const Log = "log"

// lines are the words in which servers log a setting; each group is the value of the
// setting of its name.
//
//nolint:gochecknoglobals // a constant table of compiled expressions
var lines = []*regexp.Regexp{
	// vLLM
	regexp.MustCompile(`Using max model len (?P<max_model_len>\d+)`),
	regexp.MustCompile(`Chunked prefill is enabled with max_num_batched_tokens=(?P<max_num_batched_tokens>\d+)`),
	regexp.MustCompile(`Defaulting max_num_seqs to (?P<max_num_seqs>\d+) for`),
	regexp.MustCompile(`Defaulting max_num_batched_tokens to (?P<max_num_batched_tokens>\d+) for`),
	regexp.MustCompile(`non-default args: \{.*'max_num_seqs': (?P<max_num_seqs>\d+)`),
	regexp.MustCompile(`non-default args: \{.*'max_num_batched_tokens': (?P<max_num_batched_tokens>\d+)`),
	regexp.MustCompile(`KV cache size: (?P<kv_cache_size_tokens>[\d,]+) tokens`),
	// llama.cpp
	regexp.MustCompile(`n_slots = (?P<parallel>\d+), n_ctx_slot = (?P<ctx_slot>\d+), kv_unified = '(?P<kv_unified>true|false)'`),
	// SGLang
	regexp.MustCompile(`max_total_num_tokens=(?P<max_total_tokens>\d+), chunked_prefill_size=(?P<chunked_prefill_size>-?\d+), .*max_running_requests=(?P<max_running_requests>\d+), context_len=(?P<context_length>\d+)`),
}

// mostRead bounds what is looked at of a line, in bytes: vLLM's list of arguments is
// long, and what is behind it is of no interest here.
const mostRead = 4 << 10

// FromLine gives the settings that a line of the server's log says are in force.
func FromLine(line string) []record.Setting {
	line = line[:min(len(line), mostRead)]
	var out []record.Setting
	for _, re := range lines {
		m := re.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		for i, name := range re.SubexpNames() {
			if name != "" {
				out = append(out, record.Setting{Name: name, InForce: strings.ReplaceAll(m[i], ",", ""), Source: Log})
			}
		}
	}
	return out
}
