package spec

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// loadFiles loads the first of some files in memory.
func loadFiles(t *testing.T, files map[string]string, opts Options) (Result, Diagnostics) {
	t.Helper()
	opts.ReadFile = func(path string) ([]byte, error) {
		if text, ok := files[filepath.ToSlash(path)]; ok {
			return []byte(text), nil
		}
		return nil, errors.New("no such file")
	}
	return Load("e.hcl", opts)
}

// Default, environment, files in their order, flags: a later one wins.
func TestVariableSources(t *testing.T) {
	files := map[string]string{
		"e.hcl":  "variable \"x\" {\n type = number\n default = 1\n}\nvariable \"l\" {\n type = list(string)\n default = [\"a\"]\n}\n" + small("ladder \"batch\" { rungs = [1] }\n"),
		"a.hcl":  "x = 3\nl = [\"b\", 2, true]\n",
		"b.json": `{"x": 4, "//": "a comment"}`,
	}
	env := func(name string) (string, bool) { return "2", name == "RUNG_VAR_x" }
	cases := map[string]struct {
		opts Options
		x, l string
	}{
		"default":       {Options{}, "1", `["a"]`},
		"environment":   {Options{Env: env}, "2", `["a"]`},
		"a file":        {Options{Env: env, VarFiles: []string{"a.hcl"}}, "3", `["b","2","true"]`},
		"two files":     {Options{Env: env, VarFiles: []string{"a.hcl", "b.json"}}, "4", `["b","2","true"]`},
		"in this order": {Options{Env: env, VarFiles: []string{"b.json", "a.hcl"}}, "3", `["b","2","true"]`},
		"a flag":        {Options{Env: env, VarFiles: []string{"a.hcl"}, Vars: map[string]string{"x": "5"}}, "5", `["b","2","true"]`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			res, diags := loadFiles(t, files, c.opts)
			if diags.HasErrors() {
				t.Fatal(said(diags))
			}
			if diff := cmp.Diff(map[string]string{"x": c.x, "l": c.l}, res.Variables); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A sensitive value in a file of variables is shown nowhere, whatever is wrong with
// the file or with its use.
func TestSecretInVarFile(t *testing.T) {
	spec := "variable \"token\" {\n sensitive = true\n}\nvariable \"n\" {\n default = 1\n}\n" + small("ladder \"batch\" {\n rungs = [1]\n rounds = var.token\n}\n")
	files := map[string]string{
		"good.hcl":      "token = \"" + secret + "\"\nn = 2\n",
		"slip.hcl":      "tokn = \"" + secret + "\"\nn = \"x\"\n",
		"list.hcl":      "token = [\"" + secret + "\"]\n",
		"heredoc.hcl":   "token = <<EOT\n" + secret + "\nEOT\nn = []\n",
		"unclosed.hcl":  "token = \"" + secret + "\n",
		"broken.hcl":    "n = 5 5\ntoken = \"" + secret + "\"\n",
		"heredoc2.hcl":  "n = = 1\nx = <<EOT\n" + secret + "\nEOT\n",
		"template.hcl":  "token = \"" + secret + "${x}\"\n",
		"name.hcl":      "token = " + strings.ReplaceAll(secret, "-", "_") + "\n",
		"twice.hcl":     "token = \"a\"\ntoken = \"" + secret + "\"\n",
		"control.hcl":   "token = \"" + secret + "\x01\"\n",
		"block.hcl":     "token {\n a = \"" + secret + "\"\n}\n",
		"good.json":     `{"token": "` + secret + `"}`,
		"slip.json":     `{"tokn": "` + secret + `", "n": "x"}`,
		"keyword.json":  `{"token": ` + secret + `}`,
		"list.json":     `{"token": ["` + secret + `"]}`,
		"unclosed.json": `{"token": "` + secret,
		"bare.json":     `"` + secret + `"`,
		"deep.hcl":      "token = \"" + secret + "\"\nn = " + strings.Repeat("[", 100),
		"deep.json":     `{"token": "` + secret + `", "n": ` + strings.Repeat("[", 100_000),
		"number.json":   `{"token": "` + secret + `", "n": 1e999999999}`,
	}
	files["e.hcl"] = spec
	for name := range files {
		t.Run(name, func(t *testing.T) {
			res, diags := loadFiles(t, files, Options{VarFiles: []string{name}})
			if !diags.HasErrors() {
				t.Error("no error")
			}
			if out := everything(t, res, diags); strings.Contains(out, "hunter2") {
				at := strings.Index(out, "hunter2")
				t.Errorf("shown: ...%s", out[max(0, at-300):at+20])
			}
			for _, d := range diags {
				if d.Detail == "" || d.Start != nil && len(d.Excerpt) == 0 {
					t.Errorf("%+v", d)
				}
			}
		})
	}
}

// The copy of a file with a typed, validated, sensitive default loads again.
func TestMaskedCopyKeepsTypeAndValidation(t *testing.T) {
	source := "variable \"token\" {\n type = string\n default = \"" + secret + "\"\n sensitive = true\n validation {\n  condition = var.token != \"\"\n  error_message = \"It is empty.\"\n }\n}\n" +
		small("ladder \"batch\" { rungs = [1] }\n")
	res := mustLoad(t, source, Options{})
	if strings.Contains(string(res.Source), secret) {
		t.Error("the copy has the secret")
	}
	if again := mustLoad(t, string(res.Source), Options{}); again.Plan.SpecHash != res.Plan.SpecHash {
		t.Error("the copy is another experiment")
	}
}
