package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agext/levenshtein"
)

// didYouMean gives a sentence with the nearest of the names, or nothing. The
// sentence begins with a space, to be put behind another.
func didYouMean(given string, names []string) string {
	if best := meant(given, names); best != "" {
		return fmt.Sprintf(" Did you mean %q?", best)
	}
	return ""
}

// alias is what a name that other programs have means here, of those that a block has.
func alias(given string, names []string) string {
	others := map[string][]string{
		"tokens":        {"input_tokens", "input_len", "input_length", "length", "prompt_tokens", "prompt_len", "num_tokens"},
		"output_tokens": {"max_tokens", "max_new_tokens", "max_completion_tokens", "output_len", "output_length"},
		"rounds":        {"repeat", "repeats", "repetitions", "iterations", "runs"},
		"requests":      {"n", "num_requests", "count", "samples", "num_prompts"},
		"duration":      {"time", "length", "seconds", "period"},
		"model":         {"model_name", "model_id", "name"},
		"url":           {"endpoint", "base_url", "address", "host", "uri"},
		"rungs":         {"batch_sizes", "concurrencies", "steps", "values", "levels", "rates", "sizes"},
		"batch":         {"batch_size"},
		"concurrency":   {"parallel", "parallelism", "clients", "users", "workers", "max_concurrency"},
		"command":       {"cmd", "args"},
		"text_file":     {"file", "text", "corpus", "dataset"},
		"api":           {"type", "protocol"},
	}
	for _, name := range names {
		if slices.Contains(others[name], strings.ToLower(given)) {
			return name
		}
	}
	return ""
}

// meant is what a name that a block does not have is most likely for: "" where nobody
// can tell.
func meant(given string, names []string) string {
	if name := alias(given, names); name != "" {
		return name
	}
	return nearest(given, names)
}

// nearest is the name with the fewest changes from given, within a third of its
// length; the comparison is quadratic, so a long name gets none.
func nearest(given string, names []string) string {
	if len(given) > 64 {
		return ""
	}
	best, least := "", 1+min(3, max(1, len(given)/3))
	for _, n := range slices.Sorted(slices.Values(names)) {
		if len(n) > 64 {
			continue
		}
		if d := distance(strings.ToLower(given), strings.ToLower(n)); d < least {
			best, least = n, d
		}
	}
	return best
}

// distance counts the letters to change; letters in another order count as one.
func distance(a, b string) int {
	d := levenshtein.Distance(a, b, nil)
	if d > 1 && slices.Equal(slices.Sorted(slices.Values([]byte(a))), slices.Sorted(slices.Values([]byte(b)))) {
		return 1
	}
	return d
}

// list joins names for a sentence: a, b or c.
func list(names []string) string { return joined(names, "or") }

// both joins names for a sentence: a, b and c.
func both(names []string) string { return joined(names, "and") }

func joined(names []string, last string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	default:
		return strings.Join(names[:len(names)-1], ", ") + " " + last + " " + names[len(names)-1]
	}
}

// clip bounds a text taken from the file, for a detail.
func clip(s string) string {
	const most = 80
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	return string(r[:most]) + "..."
}
