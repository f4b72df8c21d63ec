package spec

import (
	"regexp"
	"strings"
	"testing"
)

// docExamples gives the indented examples of the reference, in order, by
// the kind of their first block.
func docExamples(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	var at string
	for line := range strings.SplitSeq(Reference, "\n") {
		code, ok := strings.CutPrefix(line, "\t")
		if m := regexp.MustCompile(`^(\w+) ("\w+" )?\{`).FindStringSubmatch(code); ok && m != nil {
			at = m[1]
			out[at] = append(out[at], "")
		}
		if ok && at != "" {
			out[at][len(out[at])-1] += code + "\n"
		}
		if ok && (code == "}" || strings.Contains(code, "{}")) {
			at = ""
		}
	}
	for _, kind := range append(fileSchema().blocks, "settle") {
		if len(out[kind]) == 0 {
			t.Fatalf("the documentation has no example of %s", kind)
		}
	}
	return out
}

// Every block that a file may have has an example, and a section of its own.
func TestReferenceHasEveryBlock(t *testing.T) {
	for _, kind := range fileSchema().blocks {
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
	source := docExamples(t)["matrix"][0] + strings.Replace(small("ladder \"batch\" {\n rungs = [1]\n}\n"), `"m"`, "\"m\"\n  body = { dtype = matrix.dtype }", 1)
	if p := mustLoad(t, source, Options{}).Plan; len(p.Cells) != 4 || p.Cells[1].Name != "max_num_seqs=4,dtype=float" {
		t.Errorf("%+v", p.Cells)
	}
}

// drop leaves out the lines that set an attribute.
func drop(s string, attrs ...string) string {
	for _, a := range attrs {
		s = regexp.MustCompile(`(?m)^ *`+a+` *=.*\n`).ReplaceAllString(s, "")
	}
	return s
}

// embeddings leaves out of the example of a prompt what only an API that generates has.
func embeddings(prompt string) string {
	return drop(prompt, "text_file", "kind", "output_tokens", "output", "temperature", "stream")
}

// TestDocumentedDefaults loads the documentation's own examples, once with them and
// once without what has a default, and compares the plans: what the reference says
// is the default is.
func TestDocumentedDefaults(t *testing.T) {
	doc := docExamples(t)
	experiment := strings.Replace(doc["experiment"][0], `"name"`, `"e"`, 1)
	prompt := embeddings(doc["prompt"][0])
	full := experiment + doc["variable"][0] + doc["locals"][0] + doc["target"][0] + doc["simulator"][0] + drop(doc["gpu"][0], "source", "devices") +
		prompt + doc["baseline"][0] + drop(doc["ladder"][0], "batch") + doc["analysis"][0]
	target := regexp.MustCompile(`(?s)  timeout \{.*?\n  \}\n`).ReplaceAllString(doc["target"][0], "")
	least := `experiment "e" {}` + "\n" + target + "simulator {}\n" + drop(prompt, "reuse") + `ladder "batch" { rungs = doubling(1, 32) }` + "\n"
	want, got := mustLoad(t, full, Options{}).Plan, mustLoad(t, least, Options{}).Plan
	want.Description = ""
	if want.Digest() != got.Digest() {
		t.Errorf("the documented defaults are not the defaults:\n%+v\n%+v", want, got)
	}
}

// TestDocumentedDefaultsOfBlocks does so for what a file may have beside the least:
// each example, and the same block without what has a default.
func TestDocumentedDefaultsOfBlocks(t *testing.T) {
	doc := docExamples(t)
	base := "experiment \"e\" {}\n" + doc["target"][0] + embeddings(doc["prompt"][0]) + "ladder \"batch\" {\n  rungs = [1, 2]\n}\n"
	settled := func(block string) string {
		return "ladder \"long\" {\n  axis = \"batch\"\n  rungs = [1]\n" + block + "}\n"
	}
	for name, c := range map[string]struct{ full, least string }{
		"server":  {drop(doc["server"][0], "env", "dir", "path", "port", "log"), "server {\n" + regexp.MustCompile(`.*command.*\n`).FindString(doc["server"][0]) + "}\n"},
		"metrics": {doc["metrics"][0], "metrics {}\n"},
		"retest":  {doc["retest"][0], "retest {\n  ladder = ladder.batch\n}\n"},
		"confirm": {doc["confirm"][0], "confirm {}\n"},
		"rate":    {doc["ladder"][1], "ladder \"rate\" {\n  rungs = [0.5, 1, 2]\n}\n"},
		"settle":  {settled(doc["settle"][0]), settled("  settle {\n  }\n")},
	} {
		want, got := mustLoad(t, base+c.full, Options{}).Plan, mustLoad(t, base+c.least, Options{}).Plan
		if want.Digest() != got.Digest() {
			t.Errorf("%s: the documented defaults are not the defaults:\n%+v\n%+v", name, want, got)
		}
	}
}

// TestDocumentedExamplesLoad loads the examples in which nothing is a default.
func TestDocumentedExamplesLoad(t *testing.T) {
	doc := docExamples(t)
	const head, ladder = "experiment \"e\" {}\n", "ladder \"concurrency\" {\n  rungs  = [1, 2]\n  prompt = prompt.p512\n}\n"
	prompt := drop(doc["prompt"][0], "text_file")
	chat := strings.Replace(doc["target"][0], "openai-embeddings", "openai-chat", 1)
	for name, source := range map[string]string{
		"a program":   head + doc["target"][1] + embeddings(prompt) + ladder,
		"a log":       head + doc["target"][0] + doc["server"][1] + embeddings(prompt) + ladder,
		"a server":    head + doc["target"][0] + doc["server"][0] + embeddings(prompt) + ladder,
		"a simulator": head + doc["target"][0] + doc["simulator"][1] + embeddings(prompt) + ladder,
		"faults":      head + doc["target"][0] + doc["simulator"][2] + embeddings(prompt) + ladder,
		"a mix":       head + doc["target"][0] + embeddings(prompt) + doc["prompt"][1] + ladder,
		"goals":       head + chat + prompt + doc["slo"][0] + doc["rollback"][0] + doc["config"][0] + ladder,
	} {
		t.Run(name, func(t *testing.T) { mustLoad(t, source, Options{}) })
	}
}
