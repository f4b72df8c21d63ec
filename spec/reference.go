package spec

import (
	_ "embed" // the reference is one text, which the documentation and the command share
	"regexp"
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

// SectionsWith names the sections in which an attribute, a nested block, a function or
// one of an attribute's words stands, in their order; those where it is set before those
// where it is only spoken of.
func SectionsWith(word string) []string {
	w := regexp.QuoteMeta(word)
	for _, pattern := range []string{
		`(?m)^\t.*\b` + w + `[\t ]*(=|\{|\(|"[a-z]+" \{)`, // an attribute, a block, a function
		`"` + w + `"`,
		`(?m)^\t.*\b` + w + `\b`,
		`\b` + w + `\b`,
	} {
		if found := sectionsWith(regexp.MustCompile(pattern)); len(found) > 0 {
			return found
		}
	}
	return nil
}

func sectionsWith(pattern *regexp.Regexp) []string {
	var out []string
	for part := range strings.SplitSeq("\n"+Reference, "\n# ") {
		title, text, _ := strings.Cut(part, "\n")
		if title != "" && pattern.MatchString(text) {
			out = append(out, titles("# " + title)[0])
		}
	}
	return out
}
