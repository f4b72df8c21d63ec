package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const resumeSpec = `
experiment "again" {}
target {
  api   = "openai-embeddings"
  model = "m"
}
simulator {
  overhead = "1ms"
  floor    = "1ms"
}
variable "rounds" {
  default = 2
}
variable "key" {
  default   = ""
  sensitive = true
}
prompt "p" {
  tokens = 16
}
baseline {
  idle     = "10ms"
  requests = 5
}
ladder "batch" {
  rungs    = [1, 2]
  rounds   = var.rounds
  requests = 2
  cooldown = "10ms"
}
`

// rungIn runs the command and gives what it said and its exit status.
func rungIn(t *testing.T, dir string, args ...string) (said string, status int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "rung", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// setManifest changes one value of a run's manifest.
func setManifest(t *testing.T, dir, name string, value any) {
	t.Helper()
	file := filepath.Join(dir, "manifest.json")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]json.RawMessage{}
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	if m[name], err = json.Marshal(value); err != nil {
		t.Fatal(err)
	}
	if b, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// What can't go on is refused, with what is in the way; what has nothing left to do ends.
func TestResumeRefuses(t *testing.T) {
	ownProcesses(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.hcl"), []byte(resumeSpec), 0o644); err != nil {
		t.Fatal(err)
	}
	if said, status := rungIn(t, dir, "run", "a.hcl"); status != 0 {
		t.Fatalf("status %d\n%s", status, said)
	}
	runs, err := filepath.Glob(filepath.Join(dir, "results", "again", "*"))
	if err != nil || len(runs) != 1 {
		t.Fatalf("%v, %v", runs, err)
	}
	run := runs[0]
	refused := func(want string, args ...string) {
		t.Helper()
		said, status := rungIn(t, dir, append([]string{"run", "--resume", run, "a.hcl"}, args...)...)
		if status != 2 || !strings.Contains(said, want) {
			t.Errorf("status %d, want 2 and %q:\n%s", status, want, said)
		}
	}
	refused("has ended, and there is nothing to resume")
	refused("none of the others can be; [cell resume] were all set", "--cell", "1")
	setManifest(t, run, "status", "interrupted")
	refused("cells[0].ladders[0].rungs[0].rounds: 2, now 3", "--var", "rounds=3")
	setManifest(t, run, "simulated", false)
	refused("was not run on the simulated server")
	setManifest(t, run, "simulated", true)
	said, status := rungIn(t, dir, "run", "--resume", run, "a.hcl")
	if status != 0 || !strings.Contains(said, run) {
		t.Errorf("status %d\n%s", status, said)
	}
	if said, status = rungIn(t, dir, "report", run); status != 0 || !strings.Contains(said, "The run was resumed") {
		t.Errorf("status %d\n%s", status, said)
	}
}

// A run that two processes want is one's.
func TestResumeOfARunUnderWay(t *testing.T) {
	ownProcesses(t)
	c := &crash{t: t, dir: t.TempDir()}
	if err := c.serve(); err != nil {
		t.Fatal(err)
	}
	defer c.end()
	run := c.rung("run", c.spec, "--no-self-check", "--out", c.dir)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	busy := false
	for range 200 {
		said, status := rungIn(t, c.dir, "run", c.spec, "--no-self-check", "--resume", filepath.Join(c.dir, "crash"))
		if strings.Contains(said, "another rung is writing to this run") && status == 1 {
			busy = true
			break
		}
	}
	if err := run.Wait(); err != nil || !busy {
		t.Errorf("%v, refused as busy: %t", err, busy)
	}
}
