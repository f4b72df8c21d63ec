package spec

import (
	"strings"
	"testing"
)

// Each common slip is met by what was meant.
func TestHints(t *testing.T) {
	base := func(target, prompt, ladder, more string) string {
		return "experiment \"e\" {}\ntarget {\n api = \"openai-embeddings\"\n url = \"http://h\"\n model = \"m\"\n" + target + "}\nprompt \"p\" {\n" +
			prompt + "}\nladder \"batch\" {\n passes = 3\n" + ladder + "}\n" + more
	}
	const tokens, rungs = "tokens = 8\n", "rungs = [1]\n"
	cases := map[string]struct{ source, says string }{
		"input_tokens":    {base("", "input_tokens = 512\n", rungs, ""), `Did you mean "tokens"?`},
		"max_tokens":      {base("", tokens+"max_tokens = 5\n", rungs, ""), `Did you mean "output_tokens"?`},
		"repeats":         {base("", tokens, rungs+"repeats = 5\n", ""), `Did you mean "rounds"?`},
		"n":               {base("", tokens, rungs+"n = 5\n", ""), `Did you mean "requests"?`},
		"batch_size":      {base("", tokens, rungs+"batch_size = 5\n", ""), `Did you mean "batch"?`},
		"batch_sizes":     {base("", tokens, "batch_sizes = [5]\n", ""), `Did you mean "rungs"?`},
		"base_url":        {base("base_url = \"x\"\n", tokens, rungs, ""), `Did you mean "url"?`},
		"temperature":     {base("temperature = 0\n", tokens, rungs, ""), "It stands in prompt or settle."},
		"a bare word":     {base("", tokens, rungs, "server {\n command = [\"x\"]\n restart = ladder\n}\n"), `restart of server stands in quotes. Did you mean "ladder"?`},
		"a prompt":        {base("", tokens, "rungs = [prompt.p]\n", ""), "in the attribute prompt of ladder, baseline, retest or confirm"},
		"a ladder":        {base("", tokens, "rungs = [ladder.batch]\n", ""), "in the attribute ladder of retest"},
		"an argument":     {base("", tokens, "rungs = doubling(1, \"x\")\n", ""), `"b" parameter`},
		"a missing one":   {base("", tokens, "rungs = doubling(1)\n", ""), `Missing value for "b"`},
		"512k":            {base("", "tokens = 512k\n", rungs, ""), "Write 512000 or 512 * 1000."},
		"1.5k":            {base("", "tokens = 1.5k\n", rungs, ""), "Write 1.5 * 1000."},
		"2M":              {base("", "tokens = 2M\n", rungs, ""), "Write 2 * 1000000."},
		"16GiB":           {base("", tokens, rungs, "simulator {\n memory_total = 16GiB\n}\n"), `A size stands in quotes, as "16GiB".`},
		"7b":              {base("", "tokens = 7x\n", rungs, ""), "A text stands in quotes."},
		"an absent file":  {base("", tokens+"text_file = \"none.txt\"\n", rungs, ""), "There is no such file beside the spec: none.txt (looked in testdata/valid)."},
		"an open quote":   {base("proxy = \"http://x\n", tokens, rungs, ""), "not closed on its line"},
		"an open quote 2": {base("proxy = \"http://x\n", tokens+"kind = 3\n", rungs, ""), "kind of prompt must be a string"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, diags := load(t, c.source, Options{})
			var all []string
			for _, d := range diags {
				all = append(all, d.Detail)
			}
			if !strings.Contains(strings.Join(all, "\n"), c.says) {
				t.Errorf("%q is not said: %q", c.says, all)
			}
			if n := diags.Errors(); n > 2 {
				t.Errorf("%d errors for one mistake: %q", n, all)
			}
		})
	}
}

// A list from the command line is shown in its form.
func TestFormOfValues(t *testing.T) {
	for ty, want := range map[string]string{"list(number)": "[1, 2]", "set(string)": `["a", "b"]`, "map(string)": `{ name = "a" }`, "number": "number."} {
		_, diags := load(t, "variable \"x\" {\n type = "+ty+"\n}\n"+small("ladder \"batch\" {\n rungs = [1]\n}\n"), Options{Vars: map[string]string{"x": "a,b"}})
		if d := diags[len(diags)-1]; !strings.Contains(d.Detail, want) {
			t.Errorf("%s: %s", ty, d.Detail)
		}
	}
}

// What is null counts as left out, so that a condition can leave an attribute out.
func TestNullIsLeftOut(t *testing.T) {
	source := func(line string) string {
		return "variable \"x\" {\n default = \"\"\n}\nlocals {\n none = null\n}\n" + small("ladder \"batch\" {\n rungs = [1]\n "+line+"\n}\n")
	}
	want := mustLoad(t, source(""), Options{}).Plan
	for _, line := range []string{"warmup = null", "warmup = var.x == \"\" ? null : 5", "prompt = null", "warmup = local.none", "cooldown = null"} {
		if got := mustLoad(t, source(line), Options{}).Plan; got.Digest() != want.Digest() {
			t.Errorf("%s is not as if it were left out", line)
		}
	}
	if got := mustLoad(t, source("warmup = var.x == \"\" ? null : 5"), Options{Vars: map[string]string{"x": "y"}}).Plan; got.Cells[0].Ladders[0].Rungs[0].Warmup != 5 {
		t.Error("the other branch is left out too")
	}
	cells := mustLoad(t, "matrix {\n n = [1, 2]\n}\n"+strings.Replace(small("ladder \"batch\" {\n rungs = [1]\n warmup = matrix.n == 1 ? null : 7\n}\n"),
		"model = \"m\"", "model = \"m\"\n body = matrix.n == 1 ? null : { a = 1 }", 1), Options{}).Plan.Cells
	if a, b := cells[0].Ladders[0].Rungs[0].Warmup, cells[1].Ladders[0].Rungs[0].Warmup; a != 3 || b != 7 || cells[0].Body != nil || cells[1].Body == nil {
		t.Errorf("by cell: warm-ups %d and %d, bodies %s and %s", a, b, cells[0].Body, cells[1].Body)
	}
}

// One warning names all ladders that are walked once, and a knee only where one has it.
func TestOnePassNamesAll(t *testing.T) {
	ladder := func(name, axis string) string {
		return "ladder \"" + name + "\" {\n axis = \"" + axis + "\"\n rungs = [1]\n}\n"
	}
	for source, want := range map[string]string{
		ladder("a", "batch"): "The ladder a is walked once, so that drift is unseen and no confidence",
		ladder("a", "rate"):  "The ladder a is walked once, so that drift is unseen. Two",
		ladder("a", "batch") + ladder("b", "rate") + ladder("c", "concurrency"): "The ladders a, b and c are walked once, so that drift is unseen and the knee of a and c",
	} {
		_, diags := load(t, small(source), Options{})
		if len(diags) != 1 || !strings.HasPrefix(diags[0].Detail, want) {
			t.Errorf("%v", diags)
		}
	}
}
