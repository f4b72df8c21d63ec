//go:build integration

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"rung/sinks/record"
)

const vllmMemorySpec = `
experiment "memory" {}
target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:PORT"
  model = "minilm"
}
server {
  command = COMMAND
  env     = ENV
  restart = "never" # but for a crash
  ready { timeout = "10m" }
  stop { grace = "20s" }
}
gpu { source = "none" }
prompt "p" { tokens = 250 }
baseline {
  idle     = "1s"
  warmup   = 1
  requests = 5
}
ladder "batch" {
  rungs    = [1, 2, 64]
  requests = 2
  rounds   = 1
  warmup   = 0
  cooldown = "100ms"
}
ladder "concurrency" {
  rungs    = [1, 2]
  requests = 8
  warmup   = 1
  cooldown = "100ms"
}
`

// A vLLM whose processes may have no more memory than they hold dies of a batch: its
// engine says why in the log alone, and its answers that it does not know.
func TestConformanceOutOfMemory(t *testing.T) {
	command(t, "bash", filepath.Join(serverScripts, "start-vllm.sh"), "install")
	s := started{folder: t.TempDir(), port: freePort(t)}
	s.spec = filepath.Join(s.folder, "memory.hcl")
	var vllm subject
	for _, v := range subjects(t, s.port) {
		if v.name == "vLLM embeddings" {
			vllm = v
		}
	}
	args := strings.NewReplacer(`"--max-num-seqs","8","--max-num-queued-reqs","16"`, `"--max-num-seqs","64","--max-num-batched-tokens","16384"`)
	list, err := json.Marshal(vllm.command)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("PORT", s.port, "COMMAND", args.Replace(string(list)), "ENV", environment(vllm, s.folder)).Replace(vllmMemorySpec)
	if err := os.WriteFile(s.spec, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := newProgram()
	limited := make(chan string, 1)
	go func() {
		if said(t.Context(), p, "batch 2") { // that rung is done
			limited <- limitMemory(s.folder)
		}
	}()
	status := s.execute(t, p)
	if status != exitOK {
		t.Fatalf("exit status %d\n%s", status, p.err.String())
	}
	t.Log(<-limited)
	dir := strings.TrimSpace(p.out.String())
	all := events(t, dir)
	if edges := reasons(all, record.EdgeFound); len(edges) != 1 || !strings.HasPrefix(edges[0], "outcome oom in ") {
		t.Errorf("edges: %q", edges)
	}
	t.Logf("the server's log: %q", reasons(all, record.LogOOM))
	if t.Failed() {
		t.Log(p.err.String())
	}
	if begin := reasons(all, record.RestartBegin); len(begin) != 1 {
		t.Errorf("restarts: %q", begin)
	}
	_, rows := read(t, dir)
	next := 0
	for _, r := range rows {
		if r.Outcome == record.OOM {
			t.Logf("at batch %g: %s", r.Value, r.Error)
		}
		if r.Ladder == "concurrency" && r.Counted && r.Outcome == record.OK {
			next++
		}
	}
	if next != 16 {
		t.Errorf("%d rows of the next ladder", next)
	}
}

// limitMemory lets the process that holds the model, of those with a mark, have 8 MiB
// more data than it has.
func limitMemory(mark string) string {
	for _, process := range (&processes{mark: mark, groups: map[string]bool{}}).alive() {
		pid, name, _ := strings.Cut(process, " ")
		status, err := os.ReadFile("/proc/" + pid + "/status")
		if err != nil || !strings.HasPrefix(name, "VLLM::Worker") {
			continue
		}
		_, rest, _ := strings.Cut(string(status), "VmData:")
		kib, err := strconv.Atoi(strings.Fields(rest + " 0")[0])
		if err != nil {
			return err.Error()
		}
		err = exec.Command("prlimit", "--pid", pid, fmt.Sprintf("--data=%d", (kib+8<<10)<<10)).Run() //nolint:noctx // it ends at once
		return fmt.Sprintf("%s may have %d KiB of data: %v", strings.TrimSpace(name), kib+8<<10, err)
	}
	return "no process holds the model"
}
