package spec

import (
	"regexp"
	"strings"
	"testing"
)

// docExamples gives the indented examples of the reference, by the kind of their
// first block.
func docExamples(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	var at string
	for line := range strings.SplitSeq(Reference, "\n") {
		code, ok := strings.CutPrefix(line, "\t")
		if m := regexp.MustCompile(`^(\w+) ("\w+" )?\{`).FindStringSubmatch(code); ok && m != nil {
			at = m[1]
		}
		if ok && at != "" {
			out[at] += code + "\n"
		}
		if ok && code == "}" {
			at = ""
		}
	}
	return out
}

// Every block that a file may have has an example, and a section of its own.
func TestReferenceHasEveryBlock(t *testing.T) {
	doc := docExamples(t)
	for _, kind := range fileSchema().blocks {
		if doc[kind] == "" {
			t.Errorf("the reference has no example of %s", kind)
		}
		if text, ok := Section(kind); !ok || !strings.Contains(text, "\t"+kind) {
			t.Errorf("the reference has no section %s", kind)
		}
	}
	for name := range newLoader("", Options{}).functions() {
		if text, _ := Section("functions"); !regexp.MustCompile(`\b` + name + `\(`).MatchString(text) {
			t.Errorf("the reference does not have the function %s", name)
		}
	}
	if _, ok := Section("nothing"); ok || len(Sections()) < 10 {
		t.Error(Sections())
	}
	for i, line := range strings.Split(Reference, "\n") {
		if n := len([]rune(strings.ReplaceAll(line, "\t", "    "))); n > 100 {
			t.Errorf("language.md:%d has %d columns", i+1, n)
		}
	}
}

// The example of a matrix loads, with a block that reads it.
func TestDocumentedMatrix(t *testing.T) {
	source := docExamples(t)["matrix"] + strings.Replace(small("ladder \"batch\" {\n rungs = [1]\n}\n"), `"m"`, "\"m\"\n  body = { dtype = matrix.dtype }", 1)
	if p := mustLoad(t, source, Options{}).Plan; len(p.Cells) != 4 || p.Cells[1].Name != "max_num_seqs=4,dtype=float" {
		t.Errorf("%+v", p.Cells)
	}
}

// TestDocumentedDefaults loads the documentation's own examples, once with them and
// once without what has a default, and compares the plans: what the reference says
// is the default is.
func TestDocumentedDefaults(t *testing.T) {
	doc := docExamples(t)
	drop := func(s, line string) string {
		return regexp.MustCompile(`(?m)^ *`+line+` *=.*\n`).ReplaceAllString(s, "")
	}
	experiment := strings.Replace(doc["experiment"], `"name"`, `"e"`, 1)
	prompt := drop(drop(doc["prompt"], "output_tokens"), "text_file")
	gpu := drop(drop(doc["gpu"], "source"), "devices")
	full := experiment + doc["variable"] + doc["locals"] + doc["target"] + doc["simulator"] + gpu + prompt + doc["baseline"] +
		drop(doc["ladder"], "batch") + doc["analysis"]
	target := regexp.MustCompile(`(?s)  timeout \{.*?\n  \}\n`).ReplaceAllString(doc["target"], "")
	least := `experiment "e" {}` + "\n" + target + "simulator {}\n" + prompt + `ladder "batch" { rungs = doubling(1, 32) }` + "\n"
	want, got := mustLoad(t, full, Options{}).Plan, mustLoad(t, least, Options{}).Plan
	want.Description = ""
	if want.Digest() != got.Digest() {
		t.Errorf("the documented defaults are not the defaults:\n%+v\n%+v", want, got)
	}
}
