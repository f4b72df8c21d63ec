package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"rung/sinks/record"
)

// Forms are the forms of configuration that are known.
func Forms() []string { return []string{"vllm", "tei", "sglang", "yaml"} }

// Config is what a run says of one server's configuration.
type Config struct {
	Form    string    `json:"form"`
	Model   string    `json:"model"`
	Of      []string  `json:"of"` // what it is of and holds under, a line each
	Entries []Entry   `json:"entries"`
	LeftOut []LeftOut `json:"left_out,omitempty"`
	// Rollback are the declared criteria by which a later run would call it off.
	Rollback []string `json:"rollback"`
}

// Entry is one value of a configuration.
type Entry struct {
	Section string  `json:"section,omitempty"` // of YAML
	Key     string  `json:"key"`               // a flag, or a key of YAML
	Value   string  `json:"value"`             // as it is written
	Setting Setting `json:"setting"`           // what it rests on
}

// LeftOut is what the data does not carry.
type LeftOut struct {
	Section string `json:"section,omitempty"`
	Key     string `json:"key"`
	Reason  string `json:"reason"`
}

// field is a place of a form for a setting.
type field struct{ section, key, setting string }

// fields are those of a form, in the order in which they are written.
func fields(form string, embeds bool) []field {
	switch form {
	case "vllm":
		return []field{
			{"", "--max-num-seqs", SetSequences}, {"", "--max-model-len", SetModelLen},
			{"", "--max-num-batched-tokens", SetBatchTokens}, {"", "--gpu-memory-utilization", SetMemoryShare},
		}
	case "tei":
		return []field{
			{"", "--max-client-batch-size", SetBatch}, {"", "--max-concurrent-requests", SetSequences}, {"", "--max-batch-tokens", SetBatchTokens},
		}
	case "sglang":
		return []field{{"", "--max-running-requests", SetSequences}, {"", "--mem-fraction-static", SetMemoryShare}}
	}
	var out []field
	if embeds {
		for _, key := range []string{SetBatch, SetConcurrency, SetInput, SetQueueMS, SetReserve} {
			out = append(out, field{"embedding", key, key})
		}
	}
	for _, key := range []string{SetConcurrency, SetQueueMS, SetRequestMS} {
		out = append(out, field{"server", key, key})
	}
	return out
}

// Configure puts what a report carries into one form.
func Configure(rep *Report, form string) (Config, error) {
	if !slices.Contains(Forms(), form) {
		return Config{}, fmt.Errorf("there is no form %q of configuration; there are %s", form, strings.Join(Forms(), ", "))
	}
	out := Config{Form: form, Model: rep.Run.Model, Of: rep.of(), Entries: []Entry{}, Rollback: rep.rollback()}
	for _, f := range fields(form, !rep.Run.API.Generates()) {
		i := slices.IndexFunc(rep.Settings, func(s Setting) bool { return s.Name == f.setting })
		if i < 0 {
			continue
		}
		if s := rep.Settings[i]; s.Value != nil {
			out.Entries = append(out.Entries, Entry{f.section, f.key, written(s), s})
		} else {
			out.LeftOut = append(out.LeftOut, LeftOut{f.section, f.key, s.Reason})
		}
	}
	if form == "vllm" {
		out.starts(rep.Run.Server.MaxModelLen)
	}
	return out, nil
}

// starts leaves out a number of batched tokens below the model's length, with which vLLM
// does not start. known is the length that the server told, where none is emitted.
func (c *Config) starts(known *int) {
	length := math.NaN()
	if known != nil {
		length = float64(*known)
	}
	for _, e := range c.Entries {
		if e.Setting.Name == SetModelLen {
			length = *e.Setting.Value
		}
	}
	for i, e := range c.Entries {
		if e.Setting.Name == SetBatchTokens && *e.Setting.Value < length {
			reason := fmt.Sprintf("%s is below the model's length of %.0f, and vLLM would not start", e.Value, length)
			c.Entries = slices.Delete(c.Entries, i, i+1)
			c.LeftOut = append(c.LeftOut, LeftOut{e.Section, e.Key, reason})
			return
		}
	}
}

// written is a value as it stands in a configuration: whole, but for a share, and memory
// in MiB, rounded up.
func written(s Setting) string {
	switch s.Name {
	case SetMemoryShare:
		return strconv.FormatFloat(*s.Value, 'f', -1, 64)
	case SetReserve:
		return fmt.Sprintf("%.0fMiB", math.Ceil(*s.Value/(1<<20)))
	default:
		return strconv.FormatFloat(*s.Value, 'f', 0, 64)
	}
}

// of says what a configuration is of, and under what it holds.
func (rep *Report) of() []string {
	h := rep.Run
	var out []string
	if rep.Simulated {
		out = append(out, "SIMULATED: no value is of a real server")
	}
	run := "run " + h.RunID + " of " + h.Experiment
	if h.Cell != "" {
		run += ", cell " + h.Cell
	}
	out = append(out, run+", spec "+h.SpecHash[:min(12, len(h.SpecHash))])
	if h.Status != record.Done {
		out = append(out, fmt.Sprintf("the run did not end as done, but as %q", h.Status))
	}
	server := strings.TrimSpace(h.Server.Software + " " + h.Server.Version)
	cards := "no GPU sampled"
	if len(h.GPUs) > 0 {
		cards = h.GPUs[0].Name
		if n := len(h.GPUs); n > 1 {
			cards = fmt.Sprintf("%d GPUs, the first %s", n, cards)
		}
	}
	return append(out, fmt.Sprintf("holds for model %s, server %s, %s", h.Model, cmp.Or(server, "of an unknown version"), cards))
}

// rollback puts the declared criteria into words.
func (rep *Report) rollback() []string {
	out := []string{}
	r := rep.Rollback
	if r == nil {
		return out
	}
	if len(r.Outcomes) > 0 {
		out = append(out, "any outcome of "+strings.Join(r.Outcomes, ", "))
	}
	if r.P95 > 0 {
		out = append(out, "P95 over "+r.P95.String())
	}
	if r.TimeoutRatio != nil {
		out = append(out, fmt.Sprintf("more than %g of the requests time out", *r.TimeoutRatio))
	}
	if r.CapShare != nil {
		out = append(out, fmt.Sprintf("batches at their cap in more than %g of the samples, with more latency spread than here", *r.CapShare))
	}
	return out
}

// configs are the forms that the spec asks for.
func (rep *Report) configs(forms []string) []Config {
	var out []Config
	for _, form := range forms {
		if c, err := Configure(rep, form); err == nil {
			out = append(out, c)
		}
	}
	return out
}
