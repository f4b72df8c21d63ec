package render_test

import (
	"encoding/json"
	"strings"
	"testing"

	"rung/results"
	"rung/results/render"
	"rung/results/resultstest"
	"rung/spec/plan"
)

// configurable is a run that carries most of a configuration, with criteria to call it
// off by.
func configurable() *results.Report {
	o := resultstest.Small()
	o.Ladders = append(o.Ladders, resultstest.Ladder("length", plan.AxisInputTokens, 1, 4, 15, 512, 1024, 2048))
	r := o.Run()
	ratio := 0.01
	r.Plan.Rollback = &plan.Rollback{Outcomes: []string{"oom", "reset"}, P95: plan.Duration(2e9), TimeoutRatio: &ratio, CapShare: &ratio}
	r.Plan.Configs = results.Forms()
	return analyse(r)
}

func TestGoldenOfConfig(t *testing.T) {
	rep := configurable()
	if len(rep.Configs) != len(results.Forms()) {
		t.Fatalf("%d forms", len(rep.Configs))
	}
	for _, c := range rep.Configs {
		var b strings.Builder
		if err := render.Config(&b, c, render.Options{UTF8: true}); err != nil {
			t.Fatal(err)
		}
		golden(t, "config-"+c.Form+".txt", b.String())
	}
	for name, f := range forms() {
		if name == "json" {
			continue
		}
		says(t, name, strings.ReplaceAll(oneLine(t, f, rep), "&#34;", `"`), "Configuration", "--max-num-seqs 4", "max_batch_size: 4", "any outcome of oom, reset")
	}
}

// The YAML is sections of keys, each with a scalar; whatever the model is called.
func TestConfigIsYAML(t *testing.T) {
	const evil = "m\": x\n- a: [1\x1b[2J\u202e #"
	rep := configurable()
	rep.Run.Model = evil
	c, err := results.Configure(rep, "yaml")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := render.Config(&b, c, render.Options{}); err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string]string{}
	section := ""
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSuffix(line, "\n")
		switch key, value, ok := strings.Cut(strings.TrimSpace(line), ": "); {
		case strings.HasPrefix(strings.TrimSpace(line), "#"):
		case !strings.HasPrefix(line, " ") && strings.HasSuffix(line, ":"):
			section = strings.TrimSuffix(line, ":")
			got[section] = map[string]string{}
		case ok && strings.HasPrefix(line, "  ") && section != "":
			got[section][key] = value
		default:
			t.Errorf("no YAML: %q", line)
		}
	}
	for section, keys := range map[string]string{
		"embedding": "model max_batch_size max_concurrency max_input_tokens queue_timeout_ms gpu_memory_reserve",
		"server":    "max_concurrency queue_timeout_ms request_timeout_ms",
	} {
		for key := range strings.FieldsSeq(keys) {
			if got[section][key] == "" {
				t.Errorf("%s has no %s: %v", section, key, got[section])
			}
		}
	}
	var model string
	if err := json.Unmarshal([]byte(got["embedding"]["model"]), &model); err != nil || !strings.HasPrefix(model, `m": x - a: [1`) {
		t.Errorf("model %q: %v", got["embedding"]["model"], err)
	}
	for _, form := range results.Forms() {
		c, _ := results.Configure(rep, form)
		var b strings.Builder
		render.Config(&b, c, render.Options{UTF8: true})
		for line := range strings.Lines(b.String()) {
			if !strings.HasPrefix(strings.TrimSpace(line), "#") && strings.ContainsAny(line, "\x1b\u202e[#") && !strings.Contains(line, "model:") {
				t.Errorf("%s: %q", form, line)
			}
		}
	}
}
