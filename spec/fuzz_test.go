package spec

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// FuzzLoad: no file ends the process, every diagnostic lies in its file, and what
// loads has a plan that survives its JSON.
func FuzzLoad(f *testing.F) {
	for _, dir := range []string{"valid", "invalid"} {
		paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.hcl"))
		if err != nil {
			f.Fatal(err)
		}
		for _, p := range paths {
			b, err := os.ReadFile(p)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(b))
		}
	}
	f.Fuzz(func(t *testing.T, source string) {
		res, diags := Load("f.hcl", Options{ReadFile: func(path string) ([]byte, error) {
			if path == "f.hcl" {
				return []byte(source), nil
			}
			return []byte("text"), nil
		}})
		checkDiagnostics(t, source, diags)
		if diags.HasErrors() {
			return
		}
		b, err := json.Marshal(res.Plan)
		if err != nil {
			t.Fatal(err)
		}
		back := res.Plan
		if err := json.Unmarshal(b, &back); err != nil {
			t.Fatal(err)
		}
		if back.Digest() != res.Plan.Digest() || len(res.Plan.SpecHash) != 64 {
			t.Error("the plan changes on its way through JSON")
		}
	})
}
