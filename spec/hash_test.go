package spec

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// written is one experiment and a choice of how it is written down.
type written struct {
	attrs   map[string][]string // of each block, as lines
	shuffle func([]string) []string
	noise   func() string // a comment or an empty line, or nothing
	list    func() string // how the rungs 1, 2, 4, 8 are written
}

func (w written) file() string {
	var b strings.Builder
	block := func(head, key string, nested ...string) {
		b.WriteString(w.noise() + head + " {\n")
		for _, line := range w.shuffle(w.attrs[key]) {
			b.WriteString(w.noise() + "  " + strings.ReplaceAll(line, "LIST", w.list()) + w.noise() + "\n")
		}
		for _, n := range nested {
			b.WriteString(n)
		}
		b.WriteString("}\n" + w.noise())
	}
	block(`experiment "e"`, "experiment")
	block(`target`, "target")
	block(`prompt "p"`, "prompt")
	block(`ladder "batch"`, "batch")
	block(`ladder "concurrency"`, "concurrency")
	block(`analysis`, "analysis", "  knee {\n  "+w.attrs["knee"][0]+"\n  }\n")
	return b.String()
}

func experimentAttrs() map[string][]string {
	return map[string][]string{
		"experiment":  {`description = "d"`, `seed = 3`},
		"target":      {`api = "openai-embeddings"`, `url = "http://h"`, `model = "m"`, `body = { a = 1, b = [1.5] }`},
		"prompt":      {`tokens = 128`, `text_file = "corpus.txt"`},
		"batch":       {`rungs = LIST`, `passes = 3`, `rounds = 2`, `cooldown = "1s"`},
		"concurrency": {`rungs = LIST`, `passes = 2`},
		"analysis":    {`use = "offline"`},
		"knee":        {`tie = 0.1`},
	}
}

func plainly() written {
	return written{attrs: experimentAttrs(), shuffle: func(s []string) []string { return s },
		noise: func() string { return "" }, list: func() string { return "[1, 2, 4, 8]" }}
}

func TestHashIgnoresHowItIsWritten(t *testing.T) {
	want := mustLoad(t, plainly().file(), Options{}).Plan
	rapid.Check(t, func(r *rapid.T) {
		w := plainly()
		w.shuffle = func(s []string) []string { return rapid.Permutation(s).Draw(r, "order") }
		w.noise = func() string {
			return rapid.SampledFrom([]string{"", "", " ", "\n", " # a comment\n", " // another\n", "\t/* and one\nmore */\n"}).Draw(r, "noise")
		}
		w.list = func() string {
			return rapid.SampledFrom([]string{"[1, 2, 4, 8]", "doubling(1, 8)", "doubling(1, 15)", "concat([1], [2, 4, 8])",
				"[for x in [1, 2, 4, 8] : x]", "[\n1,\n2, 4, 0.8e1,\n]"}).Draw(r, "list")
		}
		w.attrs["experiment"][0] = fmt.Sprintf("description = %q", rapid.StringMatching(`[a-z ]{0,20}`).Draw(r, "description"))
		got, diags := load(t, w.file(), Options{})
		if diags.HasErrors() {
			r.Fatalf("%v in\n%s", said(diags), w.file())
		}
		if got.Plan.SpecHash != want.SpecHash || got.Plan.WorkloadHash != want.WorkloadHash {
			r.Fatalf("another hash for\n%s", w.file())
		}
	})
}

// TestHashSeesEachChange changes one thing after another. A change of the target
// must leave the workload's hash, and each other must change it.
func TestHashSeesEachChange(t *testing.T) {
	changes := map[string]struct{ key, from, to string }{
		"seed":       {"experiment", "seed = 3", "seed = 4"},
		"target":     {"target", `model = "m"`, `model = "n"`},
		"target url": {"target", `"http://h"`, `"http://i"`},
		"body":       {"target", "a = 1", "a = 2"},
		"tokens":     {"prompt", "128", "129"},
		"no text":    {"prompt", `text_file = "corpus.txt"`, ""},
		"rung":       {"batch", "LIST", "[1, 2, 4, 9]"},
		"order":      {"batch", "LIST", "[2, 1, 4, 8]"},
		"passes":     {"concurrency", "passes = 2", "passes = 4"},
		"cooldown":   {"batch", `"1s"`, `"2s"`},
		"use":        {"analysis", "offline", "interactive"},
		"rule":       {"knee", "tie = 0.1", "tie = 0.2"},
	}
	base := mustLoad(t, plainly().file(), Options{}).Plan
	seen := map[string]string{base.SpecHash: "no change"}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		c, w := changes[name], plainly()
		for i, line := range w.attrs[c.key] {
			w.attrs[c.key][i] = strings.ReplaceAll(line, c.from, c.to)
		}
		got := mustLoad(t, w.file(), Options{}).Plan
		if other, ok := seen[got.SpecHash]; ok {
			t.Errorf("%s hashes like %s", name, other)
		}
		seen[got.SpecHash] = name
		if same := got.WorkloadHash == base.WorkloadHash; same != (c.key == "target") {
			t.Errorf("%s: the workload's hash is the same: %v", name, same)
		}
	}
}

func TestHashSeesTheOrderOfLadders(t *testing.T) {
	one := small("ladder \"a\" {\n axis = \"batch\"\n rungs = [1]\n}\nladder \"b\" {\n axis = \"batch\"\n rungs = [1]\n}\n")
	two := small("ladder \"b\" {\n axis = \"batch\"\n rungs = [1]\n}\nladder \"a\" {\n axis = \"batch\"\n rungs = [1]\n}\n")
	p, q := mustLoad(t, one, Options{}).Plan, mustLoad(t, two, Options{}).Plan
	if p.SpecHash == q.SpecHash || p.WorkloadHash == q.WorkloadHash {
		t.Error("two orders of ladders hash alike")
	}
}

// TestHashOfTexts: by the bytes, also where they differ by Unicode normal form
// alone, and not by the file's name.
func TestHashOfTexts(t *testing.T) {
	source := strings.Replace(small("ladder \"batch\" {\n rungs = [1]\n}\n"), "tokens = 8", "tokens = 8\n text_file = \"NAME\"", 1)
	hash := func(name, text string) string {
		res, diags := Load("dir/e.hcl", Options{ReadFile: func(path string) ([]byte, error) {
			if strings.HasSuffix(path, "e.hcl") {
				return []byte(strings.Replace(source, "NAME", name, 1)), nil
			}
			return []byte(text), nil
		}})
		if diags.HasErrors() {
			t.Fatal(said(diags))
		}
		return res.Plan.WorkloadHash
	}
	composed := hash("a.txt", "caf\u00e9")
	if hash("b.txt", "caf\u00e9") != composed {
		t.Error("the file's name changes the hash")
	}
	for _, other := range []string{"cafe\u0301", "caf\u00e9\n", "caf\u00e9\r\n", "\ufeffcaf\u00e9"} {
		if hash("a.txt", other) == composed {
			t.Errorf("%q hashes like the text without", other)
		}
	}
}

// TestHashLeavesSecretsOut: another token changes nothing, another place for it
// does.
func TestHashLeavesSecretsOut(t *testing.T) {
	file := func(target string) string {
		return "variable \"token\" {\n sensitive = true\n}\n" + strings.Replace(small("ladder \"batch\" {\n rungs = [1]\n}\n"), "model = \"m\"", "model = \"m\"\n"+target, 1)
	}
	hash := func(target, token string) string {
		opts := Options{}
		if token != "" {
			opts.Vars = map[string]string{"token": token}
		}
		return mustLoad(t, file(target), opts).Plan.SpecHash
	}
	const header, body = `headers = { Authorization = var.token }`, `body = { key = var.token }`
	for _, target := range []string{header, body} {
		if hash(target, "one-token") != hash(target, "another-token") || hash(target, "") != hash(target, "one-token") {
			t.Errorf("the value of a token is in the hash of %s", target)
		}
	}
	if hash(header, "x") == hash(body, "x") || hash(body, "x") == hash(`body = { other = var.token }`, "x") {
		t.Error("the place of a token is not in the hash")
	}
}
