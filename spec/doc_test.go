package spec

import (
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// docExamples gives the indented examples of the package's documentation, by the
// kind of their first block.
func docExamples(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	var at string
	for line := range strings.SplitSeq(file.Doc.Text(), "\n") {
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

// TestDocumentedDefaults loads the documentation's own examples, once with them and
// once without what has a default, and compares the plans: what the reference says
// is the default is.
func TestDocumentedDefaults(t *testing.T) {
	doc := docExamples(t)
	for _, kind := range []string{"experiment", "variable", "locals", "matrix", "target", "simulator", "gpu", "prompt", "baseline", "ladder", "analysis"} {
		if doc[kind] == "" {
			t.Errorf("the documentation has no example of %s", kind)
		}
	}
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
