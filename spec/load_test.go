package spec

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rung/spec/plan"
)

var update = flag.Bool("update", false, "write the golden files")

// load loads a text as if it lay in testdata/valid.
func load(t *testing.T, source string, opts Options) (Result, Diagnostics) {
	t.Helper()
	path := filepath.Join("testdata", "valid", "in-memory.hcl")
	opts.ReadFile = func(name string) ([]byte, error) {
		if name == path {
			return []byte(source), nil
		}
		return os.ReadFile(name)
	}
	return Load(path, opts)
}

// mustLoad is load for what has no error.
func mustLoad(t *testing.T, source string, opts Options) Result {
	t.Helper()
	res, diags := load(t, source, opts)
	if diags.HasErrors() {
		var b strings.Builder
		_ = diags.Render(&b, 0, false)
		t.Fatalf("errors in a valid file:\n%s", b.String())
	}
	return res
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-) and now (+); -update writes it:\n%s", path, diff)
	}
}

func TestFixtureValid(t *testing.T) {
	for _, path := range fixtures(t, "valid") {
		name := strings.TrimSuffix(filepath.Base(path), ".hcl")
		t.Run(name, func(t *testing.T) {
			source := read(t, path)
			res, diags := Load(path, options(t, source))
			if diags.HasErrors() {
				t.Fatal(said(diags))
			}
			b, err := json.MarshalIndent(struct {
				Plan      plan.Plan
				Variables map[string]string
				Said      []string
			}{res.Plan, res.Variables, said(diags)}, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, strings.TrimSuffix(path, ".hcl")+".golden.json", append(b, '\n'))
			if string(res.Source) != source {
				t.Error("the source is not the file as read")
			}
			checkTexts(t, res)
		})
	}
}

// checkTexts holds for each result: the text of each prompt is there.
func checkTexts(t *testing.T, res Result) {
	t.Helper()
	for _, d := range res.Plan.Cells[0].Ladders {
		if h := d.Prompt.TextHash; h != "" && len(res.Texts[h]) == 0 {
			t.Errorf("no text for the prompt of ladder %s", d.Name)
		}
	}
}

// Case 72: a byte-order mark and lines that end in CRLF change nothing but the source; text in
// a heredoc has LF.
func TestCase72(t *testing.T) {
	const source = `experiment "e" {}
target {
  api   = "openai-embeddings"
  url   = "http://h"
  model = "m"
  body  = { prefix = <<EOT
two
lines
EOT
  }
}
prompt "p" {
  tokens = 8
}
ladder "batch" {
  rungs = [1, 2]
}
`
	want := mustLoad(t, source, Options{}).Plan
	for name, other := range map[string]string{
		"CRLF":         strings.ReplaceAll(source, "\n", "\r\n"),
		"BOM":          "\ufeff" + source,
		"BOM and CRLF": "\ufeff" + strings.ReplaceAll(source, "\n", "\r\n"),
	} {
		got := mustLoad(t, other, Options{})
		if diff := cmp.Diff(want, got.Plan); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if string(got.Source) != other {
			t.Errorf("%s: the source is not the file as read", name)
		}
	}
}

// spec makes a small valid file with one line of its own in the ladder.
func small(ladder string) string {
	return `experiment "e" {}
target {
  api   = "openai-embeddings"
  url   = "http://h"
  model = "m"
}
prompt "p" {
  tokens = 8
}
` + ladder
}

func TestRoundsRequestsAndWarmup(t *testing.T) {
	type counts struct{ Rounds, Requests, Warmup int }
	cases := map[string]struct {
		ladder string
		want   []counts
	}{
		"batch":               {`ladder "batch" { rungs = [1, 64] }`, []counts{{20, 1, 3}, {20, 1, 3}}},
		"batch, 2 in flight":  {"ladder \"batch\" {\n rungs = [1, 64]\n concurrency = 2\n}", []counts{{1, 40, 3}, {1, 40, 3}}},
		"batch, 16 in flight": {"ladder \"batch\" {\n rungs = [1]\n concurrency = 16\n}", []counts{{1, 160, 16}}},
		"concurrency":         {`ladder "concurrency" { rungs = [1, 4, 5, 64] }`, []counts{{1, 40, 3}, {1, 40, 4}, {1, 50, 5}, {1, 640, 64}}},
		"given rounds":        {"ladder \"concurrency\" {\n rungs = [8]\n rounds = 3\n}", []counts{{3, 80, 8}}},
		"given all":           {"ladder \"batch\" {\n rungs = [8]\n rounds = 4\n requests = 5\n warmup = 0\n}", []counts{{4, 5, 0}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got []counts
			for _, r := range mustLoad(t, small(c.ladder), Options{}).Plan.Cells[0].Ladders[0].Rungs {
				got = append(got, counts{r.Rounds, r.Requests, r.Warmup})
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPassesAlternate(t *testing.T) {
	d := mustLoad(t, small("ladder \"batch\" {\n rungs = [1, 2, 4]\n passes = 3\n}"), Options{}).Plan.Cells[0].Ladders[0]
	want := []plan.Pass{
		{Index: 0, Up: true, Order: []int{0, 1, 2}},
		{Index: 1, Up: false, Order: []int{2, 1, 0}},
		{Index: 2, Up: true, Order: []int{0, 1, 2}},
	}
	if diff := cmp.Diff(want, d.Passes); diff != "" {
		t.Error(diff)
	}
}

func TestVariablesPrecedence(t *testing.T) {
	source := "variable \"rounds\" {\n default = 4\n}\nvariable \"list\" {\n default = [1]\n}\n" +
		small("ladder \"batch\" {\n rungs = var.list\n rounds = var.rounds\n}")
	env := func(name string) (string, bool) { return "5", name == "RUNG_VAR_rounds" }
	cases := map[string]struct {
		opts Options
		want int
	}{
		"default":     {Options{}, 4},
		"environment": {Options{Env: env}, 5},
		"flag":        {Options{Env: env, Vars: map[string]string{"rounds": "6"}}, 6},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			res := mustLoad(t, source, c.opts)
			if got := res.Plan.Cells[0].Ladders[0].Rungs[0].Rounds; got != c.want {
				t.Errorf("%d rounds, not %d", got, c.want)
			}
			if got := res.Variables["rounds"]; got != fmt.Sprint(c.want) {
				t.Errorf("shown as %s", got)
			}
		})
	}
	res := mustLoad(t, source, Options{Vars: map[string]string{"list": "[1, 2, 8]"}})
	if n := len(res.Plan.Cells[0].Ladders[0].Rungs); n != 3 || res.Variables["list"] != "[1,2,8]" {
		t.Errorf("%d rungs, shown as %s", n, res.Variables["list"])
	}
}

func TestSimulatedGPU(t *testing.T) {
	const url = "url = \"http://h\"\n"
	file := func(target, more string) string {
		return "experiment \"e\" {}\ntarget {\n api = \"openai-embeddings\"\n model = \"m\"\n" + target + "}\nprompt \"p\" { tokens = 8 }\n" +
			"ladder \"batch\" { rungs = [1] }\n" + more
	}
	cases := map[string]struct {
		source   string
		simulate bool
		want     string
		declared bool
	}{
		"a server":                       {file(url, ""), false, "nvml", false},
		"a server, simulated":            {file(url, ""), true, "simulator", false},
		"no url":                         {file("", "simulator {}\n"), false, "simulator", false},
		"both":                           {file(url, "simulator {}\n"), false, "nvml", false},
		"declared":                       {file(url, "gpu { source = \"nvml\" }\n"), false, "nvml", true},
		"declared, simulated":            {file(url, "gpu { source = \"nvml\" }\n"), true, "simulator", true},
		"declared without a url":         {file("", "simulator {}\ngpu { source = \"nvml\" }\n"), false, "nvml", true},
		"none, simulated":                {file(url, "gpu { source = \"none\" }\n"), true, "none", true},
		"an interval alone":              {file(url, "gpu { interval = \"1s\" }\n"), false, "nvml", false},
		"an interval alone, no url":      {file("", "simulator {}\ngpu { interval = \"1s\" }\n"), false, "simulator", false},
		"no url, nor a simulator, --sim": {file("", ""), true, "simulator", false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := mustLoad(t, c.source, Options{Simulate: c.simulate, ForRun: true}).Plan
			if got.GPU.Source != c.want || got.GPU.Declared != c.declared {
				t.Errorf("%+v", got.GPU)
			}
			plain := mustLoad(t, c.source, Options{Simulate: true}).Plan
			if plain.SpecHash != got.SpecHash || plain.WorkloadHash != got.WorkloadHash {
				t.Error("--simulate changes a hash")
			}
		})
	}
}

func TestBaselineFollowsTheFirstLadder(t *testing.T) {
	got := mustLoad(t, read(t, "testdata/valid/lengths.hcl"), Options{}).Plan.Cells[0].Baseline
	want := &plan.Baseline{Idle: plan.Duration(10 * time.Second), Prompt: plan.Prompt{Name: "p", Reuse: plan.Unique},
		Shape: plan.Shape{Batch: 8, InputTokens: 128, InFlight: 1}, Warmup: 5, Requests: 60}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTextFileWithinTheFolder(t *testing.T) {
	dir := t.TempDir()
	inner := filepath.Join(dir, "specs")
	if err := os.Mkdir(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"secret.txt": "outside", "specs/in.txt": "inside"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secret.txt", filepath.Join(inner, "link.txt")); err != nil {
		t.Fatal(err)
	}
	source := strings.Replace(small("ladder \"batch\" {\n rungs = [1]\n}\n"), "tokens = 8", "tokens = 8\n  text_file = \"NAME\"", 1)
	path := filepath.Join(inner, "e.hcl")
	for name, good := range map[string]bool{"in.txt": true, "link.txt": false, "../secret.txt": false, ".": false} {
		if err := os.WriteFile(path, []byte(strings.Replace(source, "NAME", name, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		res, diags := Load(path, Options{})
		if diags.HasErrors() == good {
			t.Errorf("%s: %v", name, said(diags))
		}
		if text := res.Texts[res.Plan.Digest()]; bytes.Contains(text, []byte("outside")) {
			t.Errorf("%s was read", name)
		}
	}
}

// TestAllMistakesAtOnce: ten mistakes, ten errors, in the order of the file, after the
// warnings, which are in that order too.
func TestAllMistakesAtOnce(t *testing.T) {
	source := read(t, "testdata/ten-mistakes.hcl")
	_, diags := Load("testdata/ten-mistakes.hcl", Options{})
	if n := diags.Errors(); n != 10 {
		t.Errorf("%d errors", n)
	}
	last := map[Severity]int{}
	for _, d := range diags {
		if d.Severity == Warning && last[Error] > 0 {
			t.Error("a warning after an error")
		}
		if d.Start != nil {
			if d.Start.Line < last[d.Severity] {
				t.Errorf("line %d after line %d", d.Start.Line, last[d.Severity])
			}
			last[d.Severity] = d.Start.Line
		}
	}
	checkDiagnostics(t, source, diags)
	if b, err := diags.JSON(); err != nil || strings.Contains(string(b), "hunter2") {
		t.Errorf("a sensitive value is shown: %s, %v", b, err)
	}
	var text bytes.Buffer
	if err := diags.Render(&text, 72, false); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/ten-mistakes.golden.txt", text.Bytes())
}
