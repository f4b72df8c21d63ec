//go:build integration

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"rung/results"
)

const duckdb = "duckdb==2.0.1"

// Every figure of the demo's report is one that a DuckDB query over its Parquet gives, or
// was declared before the run; and so is every other that a report can have, of two runs
// that have what the demo has not. On a busy machine a round may be refused that was to show
// a figure: then there are further runs.
func TestIntegrationFigures(t *testing.T) {
	demo := mustRun(t, "../../examples/quickstart.hcl")
	schema := filepath.Join(t.TempDir(), "schema.json")
	p := newProgram()
	if status := p.execute(t.Context(), []string{"schema", "--report"}); status != exitOK {
		t.Fatalf("schema: exit status %d\n%s", status, p.err.String())
	}
	if err := os.WriteFile(schema, []byte(p.out.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	readmeQuery(t, demo)
	runs, lacking := []string{demo}, true
	for tries := 3; lacking && tries > 0; tries-- {
		runs = append(runs, mustRun(t, "testdata/figures/embedding.hcl", "--simulate"), mustRun(t, "testdata/figures/chat.hcl"))
		lacking = holdFigures(t, append([]string{"--schema", schema}, runs...)...)
	}
	if lacking {
		t.Error("figures of the schema were in no report")
	}
}

// holdFigures reports runs and holds the reports against their Parquet, see
// testdata/figures/check.py, whose arguments these are: the last are the runs' folders.
// lacking says that figures of the schema are in none of them.
func holdFigures(t *testing.T, args ...string) (lacking bool) {
	t.Helper()
	const lacks = 3 // the script's exit status
	for i, dir := range args {
		if strings.HasPrefix(dir, "--") || i > 0 && args[i-1] == "--schema" {
			continue
		}
		report(t, dir)
		writePictures(t, dir)
	}
	cmd := exec.CommandContext(t.Context(), duckdbPython(t), append([]string{"-B", "testdata/figures/check.py"}, args...)...)
	out, err := cmd.CombinedOutput()
	t.Log("\n" + string(out))
	if err != nil && cmd.ProcessState.ExitCode() != lacks {
		t.Error(err)
	}
	return err != nil && cmd.ProcessState.ExitCode() == lacks
}

// writePictures writes what the page's pictures show and the JSON has not.
func writePictures(t *testing.T, dir string) {
	t.Helper()
	run, err := results.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	rep := results.Analyse(run, run.Plan.Analysis)
	histograms := []*results.Histogram{}
	for _, l := range rep.Ladders {
		histograms = append(histograms, l.Histogram)
	}
	b, err := json.Marshal(map[string]any{"timeline": rep.Timeline, "histograms": histograms})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "report", "pictures.json"), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// duckdbPython is a Python that has DuckDB.
func duckdbPython(t *testing.T) string {
	t.Helper()
	venv := filepath.Join(serversDir(t), "duckdb-venv")
	python := filepath.Join(venv, "bin", "python")
	if exec.CommandContext(t.Context(), python, "-c", "import duckdb").Run() != nil {
		command(t, "python3", "-m", "venv", venv)
		command(t, python, "-m", "pip", "install", "-q", duckdb)
	}
	return python
}

// readmeQuery sees that the README's query is the report's own.
func readmeQuery(t *testing.T, dir string) {
	t.Helper()
	run, err := results.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	query := strings.ReplaceAll(results.Analyse(run, run.Plan.Analysis).Ladders[0].Query, filepath.ToSlash(dir), "results/quickstart/*")
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(readme), fmt.Sprintf("```sql\n%s\n```", query)) {
		t.Errorf("the README does not have the report's query:\n%s", query)
	}
}
