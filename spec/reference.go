package spec

import (
	_ "embed" // the reference is one text, which the documentation and the command share
	"slices"
	"strings"
)

// Reference is the language of a file, block by block: sections under headings,
// examples indented by a tab.
//
//go:embed language.md
var Reference string

// Sections are the names by which Section finds the parts of the reference, in
// their order.
func Sections() []string {
	var out []string
	for line := range strings.Lines(Reference) {
		out = append(out, titles(line)...)
	}
	return out
}

// titles are the names in a heading, none in another line: "# variable and locals".
func titles(line string) []string {
	title, ok := strings.CutPrefix(line, "# ")
	if !ok {
		return nil
	}
	return strings.Split(strings.ToLower(strings.TrimSpace(title)), " and ")
}

// Section is the part of the reference on one block.
func Section(name string) (string, bool) {
	var b strings.Builder
	inside := false
	for line := range strings.Lines(Reference) {
		if t := titles(line); t != nil {
			inside = slices.Contains(t, strings.ToLower(name))
		}
		if inside {
			b.WriteString(line)
		}
	}
	return b.String(), b.Len() > 0
}
