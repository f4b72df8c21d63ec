package spec

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// FuzzLoad: no file ends the process, every diagnostic lies in its file, and what
// loads has a plan that survives its JSON.
func FuzzLoad(f *testing.F) {
	for _, source := range corpus(f, "testdata/valid/*.hcl", "testdata/invalid/*.hcl") {
		f.Add(source)
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

// corpus gives the files of some patterns.
func corpus(f *testing.F, patterns ...string) []string {
	f.Helper()
	var out []string
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for _, p := range paths {
			b, err := os.ReadFile(p)
			if err != nil {
				f.Fatal(err)
			}
			out = append(out, string(b))
		}
	}
	return out
}

// FuzzPlan: whatever a file of variables says, a plan has cells with names of their
// own, and a price that adds up.
func FuzzPlan(f *testing.F) {
	specs, vars := corpus(f, "testdata/valid/*.hcl", "../examples/*.hcl"), corpus(f, "testdata/invalid/*.vars.*")
	for i, source := range specs {
		f.Add(source, "", false)
		f.Add(source, vars[i%len(vars)], i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, source, vars string, isJSON bool) {
		name := map[bool]string{true: "v.json", false: "v.hcl"}[isJSON]
		res, diags := Load("f.hcl", Options{VarFiles: []string{name}, ReadFile: func(path string) ([]byte, error) {
			return []byte(map[string]string{"f.hcl": source, name: vars}[path]), nil
		}})
		for _, d := range diags {
			if d.Summary == "" || d.Detail == "" || d.Start != nil && len(d.Excerpt) == 0 {
				t.Errorf("%+v", d)
			}
		}
		names := map[string]bool{}
		for _, c := range res.Plan.Cells {
			price := PriceOf(res.Plan, c, SimulatedCost(res.Plan))
			if names[c.Name] || len(c.WorkloadHash) != 64 || price.Least < 0 || price.Likely < price.Least {
				t.Errorf("cell %q: %s to %s", c.Name, price.Least, price.Likely)
			}
			if math.IsNaN(price.Requests) || math.IsInf(price.Requests, 0) || price.Requests < 1 || math.IsInf(price.Memory, 0) {
				t.Errorf("cell %q: %g requests, %g bytes", c.Name, price.Requests, price.Memory)
			}
			names[c.Name] = true
		}
	})
}
