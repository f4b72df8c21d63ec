package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"rung/results"
)

// provenance says where every figure comes from.
func provenance(rep *results.Report) [][2]string {
	h := rep.Run
	var out [][2]string
	add := func(name, text string) {
		if text != "" {
			out = append(out, [2]string{safe(name), safe(text)})
		}
	}
	add("folder", h.Dir)
	add("cell", h.Cell)
	add("status", string(h.Status)+inBrackets(h.Error))
	add("began", when(h.Began))
	if h.Ended != nil {
		add("ended", fmt.Sprintf("%s, after %s", when(*h.Ended), h.Ended.Sub(h.Began).Round(100_000_000)))
	}
	add("spec hash", short(h.SpecHash))
	add("workload hash", short(h.WorkloadHash))
	add("git", git(h))
	add("seed", fmt.Sprint(h.Seed))
	for _, name := range slices.Sorted(maps.Keys(h.Variables)) {
		add("variable "+name, h.Variables[name])
	}
	url := cmp.Or(h.URL, "url not recorded")
	if rep.Simulated && rep.SimulatedBy == "" {
		url = "the built-in simulated server"
	}
	add("target", fmt.Sprintf("%s, %s, model %s", h.API, url, h.Model))
	add("server", strings.TrimPrefix(server(h), " on "))
	add("models offered", strings.Join(h.Server.Models, ", "))
	add("prompts sent as", h.Server.InputForm+inBrackets(tokeniser(h)))
	for _, g := range h.GPUs {
		text := fmt.Sprintf("%s %s", g.Name, g.UUID)
		if g.Driver != "" {
			text += ", driver " + g.Driver
		}
		if g.MemTotalBytes != nil {
			text += ", " + bytes(*g.MemTotalBytes)
		}
		if g.PowerLimitW != nil {
			text += fmt.Sprintf(", power limit %g W", *g.PowerLimitW)
		}
		if len(g.Unsupported) > 0 {
			text += ", without " + strings.Join(g.Unsupported, ", ")
		}
		add(fmt.Sprintf("GPU %d", g.Index), text)
	}
	samples := h.GPU.Source
	if !strings.Contains(rep.Memory.Reason, h.GPU.Reason) {
		samples += inBrackets(h.GPU.Reason) // else it stands under memory
	}
	add("GPU samples", samples)
	add("client", strings.Join(compact(h.Host.Name, h.Host.OS, h.Host.Kernel, h.Host.CPU, plural(h.Host.CPUs, "core", "cores"), h.Host.Governor), ", "))
	add("rung", h.Rung)
	add("rows", fmt.Sprintf("%d requests (%d counted, %d failed), %d samples, %d events",
		h.Counts.Requests, h.Counts.Counted, h.Counts.Failed, h.Counts.Samples, h.Counts.Events))
	add("rules", rules(rep))
	return out
}

func git(h results.Header) string {
	if h.Git == nil {
		return "the spec is in no repository"
	}
	if h.Git.Clean {
		return short(h.Git.Commit) + ", clean"
	}
	return short(h.Git.Commit) + ", with changes that are not committed"
}

func tokeniser(h results.Header) string {
	if h.Server.Tokeniser == "" {
		return ""
	}
	return "counted by " + h.Server.Tokeniser
}

func compact(s ...string) []string {
	return slices.DeleteFunc(s, func(x string) bool { return x == "" })
}

// rules are the thresholds that the verdicts rest on.
func rules(rep *results.Report) string {
	a := rep.Rules
	s := fmt.Sprintf("use %s, knee by %s", a.Use, a.Knee.Rule)
	switch a.Knee.Rule {
	case "power":
		s += fmt.Sprintf(" (elasticity %g, tie %g, P95 rise %g)", a.Knee.Elasticity, a.Knee.Tie, a.Knee.P95Rise)
	case "half_increment":
		s += fmt.Sprintf(" (factor %g, flat %g, P95 rise %g)", a.Knee.Factor, a.Knee.Flat, a.Knee.P95Rise)
	}
	return s + fmt.Sprintf(", P95 ratio %g, reserve %s, safety %g %%", a.Limit.P95Ratio, plural(a.Headroom.ReserveRungs, "rung", "rungs"), 100*a.Headroom.Safety)
}
