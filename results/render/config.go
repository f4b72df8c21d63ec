package render

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"rung/results"
)

// Config writes a configuration as it goes to a server: of flags one a line, which a
// shell takes by $(grep -v '^#' FILE), else YAML. Comments say where each value is from.
func Config(w io.Writer, c results.Config, o Options) error {
	s := configText(c)
	if !o.UTF8 {
		s = ascii(s)
	}
	_, err := io.WriteString(w, s)
	return err
}

func configText(c results.Config) string {
	var b strings.Builder
	for _, line := range c.Of {
		comment(&b, "", line)
	}
	if len(c.Rollback) == 0 {
		comment(&b, "", "rollback: the spec declares no criteria")
	}
	for _, line := range c.Rollback {
		comment(&b, "", "roll back on: "+line)
	}
	if c.Form == "yaml" {
		configYAML(&b, c)
	} else {
		for _, e := range c.Entries {
			provenanceOf(&b, "", e.Setting)
			fmt.Fprintf(&b, "%s %s\n", e.Key, e.Value)
		}
	}
	for _, l := range c.LeftOut {
		comment(&b, "", "left out: "+strings.TrimPrefix(l.Section+"."+l.Key, ".")+": "+l.Reason)
	}
	return b.String()
}

// configYAML writes the sections; one without a value is left out.
func configYAML(b *strings.Builder, c results.Config) {
	section := ""
	for _, e := range c.Entries {
		if e.Section != section {
			section = e.Section
			fmt.Fprintf(b, "%s:\n", section)
			if section == "embedding" {
				fmt.Fprintf(b, "  model: %s\n", quoted(c.Model))
			}
		}
		provenanceOf(b, "  ", e.Setting)
		fmt.Fprintf(b, "  %s: %s\n", e.Key, e.Value)
	}
}

// provenanceOf is where a value comes from, what it holds under, and what speaks
// against it.
func provenanceOf(b *strings.Builder, indent string, s results.Setting) {
	comment(b, indent, s.From)
	if s.Holds != "" {
		comment(b, indent, "holds at "+s.Holds)
	}
	if s.Doubt != "" {
		comment(b, indent, "doubt: "+s.Doubt)
	}
}

// comment writes a text as a comment of one line, whatever is in it.
func comment(b *strings.Builder, indent, text string) {
	fmt.Fprintf(b, "%s# %s\n", indent, safe(text))
}

// quoted is a text as a double-quoted scalar of YAML, which takes JSON's escapes.
func quoted(s string) string {
	j, err := json.Marshal(safe(s))
	if err != nil {
		return `""`
	}
	return string(j)
}

// ConfigJSON writes a configuration for a program.
func ConfigJSON(w io.Writer, c results.Config) error { return printJSON(w, c) }

// configBlocks are the configurations that the spec asks for.
func configBlocks(rep *results.Report) []block {
	if len(rep.Configs) == 0 {
		return nil
	}
	out := []block{{heading: "Configuration", level: 2}}
	for _, c := range rep.Configs {
		out = append(out, block{text: "For " + safe(c.Form) + ", as rung config --for " + safe(c.Form) + " writes it:"}, block{code: configText(c), lang: configLang(c)})
	}
	return out
}

func configLang(c results.Config) string {
	if c.Form == "yaml" {
		return "yaml"
	}
	return "sh"
}
