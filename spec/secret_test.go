package spec

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const secret = "hunter2-is-secret"

// everything gives all that a load says or that would be written down.
func everything(t *testing.T, res Result, diags Diagnostics) string {
	t.Helper()
	var b strings.Builder
	for _, color := range []bool{false, true} {
		if err := diags.Render(&b, 60, color); err != nil {
			t.Error(err)
		}
	}
	j, err := diags.JSON()
	if err != nil {
		t.Error(err)
	}
	b.Write(j)
	for _, v := range []any{res.Plan, res.Variables, res.Secrets} {
		j, err := json.Marshal(v)
		if err != nil {
			t.Error(err)
		}
		b.Write(j)
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&b, verb+"\n", v)
		}
	}
	return b.String()
}

// secretWays are the ways in which a secret comes into a load.
func secretWays() map[string]struct {
	variable string
	opts     Options
} {
	type way = struct {
		variable string
		opts     Options
	}
	env := func(name string) (string, bool) {
		return secret, name == "API_TOKEN" || name == "RUNG_VAR_token"
	}
	none := func(string) (string, bool) { return "", false }
	return map[string]way{
		"a default":          {"default = \"" + secret + "\"\n sensitive = true", Options{Env: none}},
		"a heredoc":          {"default = <<EOT\n" + secret + "\nEOT\n sensitive = true", Options{Env: none}},
		"a flag":             {"default = \"\"\n sensitive = true", Options{Env: none, Vars: map[string]string{"token": secret}}},
		"RUNG_VAR":           {"sensitive = true", Options{Env: env}},
		"env":                {"default = env(\"API_TOKEN\", \"\")", Options{Env: env}},
		"env's default":      {"default = env(\"NONE\", \"" + secret + "\")", Options{Env: none}},
		"a flag over env":    {"default = env(\"NONE\", \"\")", Options{Env: none, Vars: map[string]string{"token": secret}}},
		"env, marked again":  {"default = env(\"API_TOKEN\", \"\")\n sensitive = true", Options{Env: env}},
		"an object":          {"default = { a = \"" + secret + "\" }\n sensitive = true", Options{Env: none}},
		"an object in flags": {"default = { a = 1 }\n sensitive = true", Options{Env: none, Vars: map[string]string{"token": "{ a = \"" + secret + "\" }"}}},
		"a wrong flag":       {"default = 4\n sensitive = true", Options{Env: none, Vars: map[string]string{"token": secret}}},
	}
}

func TestSecretAppearsNowhere(t *testing.T) {
	uses := map[string]string{
		"header":           `headers = { Authorization = "Bearer ${var.token}" }`,
		"bare header":      `headers = { Authorization = var.token }`,
		"body":             `body = { key = var.token, deep = [{ key = local.copy }] }`,
		"url":              `url2 = var.token`,
		"model":            `timeout { connect = var.token }`,
		"object":           `headers = { A = var.token.a }`,
		"missing field":    `headers = { A = var.token.nope }`,
		"index":            `headers = { A = var.token["nope"] }`,
		"index by it":      `headers = { A = { b = 1 }[var.token] }`,
		"number":           `headers = { A = 1 + var.token }`,
		"condition":        `headers = { A = var.token ? "x" : "y" }`,
		"name":             `headers = { (var.token) = "x" }`,
		"whole":            `body = var.token`,
		"key":              `body = { (var.token) = 1 }`,
		"doubling":         `body = { a = doubling(var.token, 3) }`,
		"join":             `body = { a = join(var.token, [[]]) }`,
		"for":              `body = { for k, v in { a = var.token } : v => k }`,
		"for twice":        `body = { for k in [var.token, var.token] : k => 1 }`,
		"splat":            `body = { a = var.token[*].b }`,
		"merge":            `body = merge({ a = 1 }, var.token)`,
		"length":           `model2 = length([var.token])`,
		"env in place":     `headers = { A = env("API_TOKEN", "` + secret + `") }`,
		"env, wrong":       `headers = { A = max(env("API_TOKEN", "` + secret + `"), 1) }`,
		"stray":            `stray = var.token`,
		"without its root": `headers = { A = token }`,
	}
	for name, way := range secretWays() {
		for use, line := range uses {
			t.Run(name+"/"+use, func(t *testing.T) {
				source := "variable \"token\" {\n " + way.variable + "\n}\nlocals {\n copy = var.token\n}\n" +
					strings.Replace(small("ladder \"batch\" {\n rungs = [1]\n}\n"), "model = \"m\"", "model = \"m\"\n  "+line, 1)
				if strings.Contains(line, secret) { // env hides its arguments wherever it stands
					source = strings.ReplaceAll(source, "\n", " \n")
				}
				res, diags := load(t, source, way.opts)
				if out := everything(t, res, diags); strings.Contains(out, "hunter2") {
					at := strings.Index(out, "hunter2")
					t.Errorf("shown: ...%s", out[max(0, at-300):at+20])
				}
			})
		}
	}
}

// TestSecretSurvivesNoBrokenFile: errors of syntax in and around the secret.
func TestSecretSurvivesNoBrokenFile(t *testing.T) {
	blocks := map[string]string{
		"unclosed quote":            "variable \"t\" {\n default = \"hunter2-x\n sensitive = true\n}\n",
		"no quotes":                 "variable \"t\" {\n default = hunter2-x\n sensitive = true\n}\n",
		"no equals":                 "variable \"t\" {\n default \"hunter2-x\"\n sensitive = true\n}\n",
		"one line":                  "variable \"t\" { default = \"hunter2-x\", sensitive = true }\n",
		"twice":                     "variable \"t\" {\n default = \"a\"\n default = \"hunter2-x\"\n sensitive = true\n}\n",
		"after":                     "variable \"t\" {\n sensitive = true\n default = \"hunter2-x\" \"\"\n}\n",
		"never closed":              "variable \"t\" {\n sensitive = true\n default = \"hunter2-x\"\n",
		"bad escape":                "variable \"t\" {\n sensitive = true\n default = \"hunter2-\\x\"\n}\n",
		"bad template":              "variable \"t\" {\n sensitive = true\n default = \"hunter2-${\"\n}\n",
		"a name":                    "variable \"t\" {\n sensitive = true\n default = \"hunter2-${x}\"\n}\n",
		"a function":                "variable \"t\" {\n sensitive = true\n default = hunter2(1)\n}\n",
		"wrong sensitive":           "variable \"t\" {\n sensitive = \"true\"\n default = hunter2.x\n}\n",
		"a list":                    "variable \"t\" {\n sensitive = true\n default = [\n \"hunter2-x\",\n nope(),\n ]\n}\n",
		"quoted keyword":            "variable \"t\" {\n sensitive = true\n default = \"hunter2-x\"\n type = 1\n}\n",
		"a slip":                    "variable \"t\" {\n sensitve = true\n default = \"hunter2-x\"\n type = 1\n}\nladder \"b\" {\n rungs = var.t\n}\n",
		"another slip":              "variable \"t\" {\n sensitive = true\n deflt = \"hunter2-x\"\n}\n",
		"two slips":                 "variable \"t\" {\n sensitive = true\n deflt = \"hunter2-x\n}\n",
		"three slips":               "varable \"t\" {\n sensitve = true\n deflt = hunter2-x\"\n}\n",
		"no brace":                  "variable \"t\"\n default = \"hunter2-x\"\n sensitive = true\n}\n",
		"not a bool":                "variable \"t\" {\n sensitive = trWe\n default = \"hunter2-x\"\n}\nladder \"b\" {\n rungs = var.t\n}\n",
		"lost by syntax":            "variable \"t\" {\n sensitive = = true\n default = \"hunter2-x\"\n}\nladder \"b\" {\n rungs = var.t\n rounds = max(var.t, 1)\n}\n",
		"lost by syntax, in target": "variable \"t\" {\n sensitive == true\n default = \"hunter2-x\"\n}\ntarget {\n url = var.t\n headers = [var.t]\n body = var.t\n}\n",
		"control sign":              "variable \"t\" {\n sensitive = true\n default = \"hunter2-x\x01\"\n}\n",
	}
	for name, block := range blocks {
		t.Run(name, func(t *testing.T) {
			res, diags := load(t, small("ladder \"batch\" {\n rungs = [1]\n}\n")+block, Options{})
			if !diags.HasErrors() {
				t.Error("no error")
			}
			if out := everything(t, res, diags); strings.Contains(out, "hunter2") {
				at := strings.Index(out, "hunter2")
				t.Errorf("shown: ...%s", out[max(0, at-300):at+20])
			}
		})
	}
}

func TestSecretsReachTheTarget(t *testing.T) {
	source := "variable \"token\" {\n sensitive = true\n}\n" + strings.Replace(small("ladder \"batch\" {\n rungs = [1]\n}\n"),
		"url   = \"http://h\"", "url = \"http://user:${var.token}@h\"\n headers = { A = \"Bearer ${var.token}\", B = \"open\" }\n body = { k = { v = var.token }, open = 1 }", 1)
	res := mustLoad(t, source, Options{Vars: map[string]string{"token": secret}, ForRun: true})
	if res.Secrets.URL == nil || res.Secrets.URL.Reveal() != "http://user:"+secret+"@h" || !res.Plan.Target.HasURL || res.Plan.Target.URL != "" {
		t.Errorf("url: %+v", res.Plan.Target)
	}
	if got := res.Secrets.Headers["A"].Reveal(); got != "Bearer "+secret {
		t.Errorf("header: %q", got)
	}
	if got := res.Secrets.Body["k"].Reveal(); got != `{"v":"`+secret+`"}` {
		t.Errorf("body: %q", got)
	}
	if got := string(res.Plan.Cells[0].Body); got != `{"open":1}` {
		t.Errorf("open body: %s", got)
	}
	if res.Variables["token"] != masked {
		t.Errorf("variables: %v", res.Variables)
	}
	unset := mustLoad(t, source, Options{})
	if unset.Secrets.URL != nil || len(unset.Secrets.Headers) != 0 || unset.Plan.SpecHash != res.Plan.SpecHash {
		t.Errorf("unset: %+v", unset.Plan.Target)
	}
}

// The run keeps a copy of the file: a value that is sensitive is not in it, and it
// can still be loaded.
func TestSecretIsMaskedInTheCopy(t *testing.T) {
	res, diags := Load("testdata/invalid/warn-secret-in-file.hcl", Options{})
	if diags.HasErrors() || res.Plan.Experiment == "" {
		t.Fatalf("%v", diags)
	}
	if strings.Contains(string(res.Source), "hunter2") || !strings.Contains(string(res.Source), masked) {
		t.Errorf("the copy: %s", res.Source)
	}
	copied := filepath.Join(t.TempDir(), "copy.hcl")
	if err := os.WriteFile(copied, res.Source, 0o600); err != nil {
		t.Fatal(err)
	}
	again, diags := Load(copied, Options{})
	if diags.HasErrors() || again.Plan.SpecHash != res.Plan.SpecHash {
		t.Errorf("the copy has another hash, or errors: %v", diags)
	}
}
