//go:build integration

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"rung/sinks/record"
)

// A server that may have no more memory than it needs for the batches before the last.
const memorySpec = `
experiment "memory" {}
target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:PORT"
  model = "minilm"
}
server {
  command = ["bash", "-c", "ulimit -v LIMIT && exec \"$0\" \"$@\"", COMMAND]
  env     = { RUNG_TEST_MARK = "FOLDER" }
  restart = "never" # but for a crash
  stop { grace = "2s" }
}
gpu { source = "none" }
prompt "p" { tokens = 16 }
baseline {
  idle     = "100ms"
  warmup   = 1
  requests = 3
}
ladder "batch" {
  rungs    = [8, 64, 2048]
  requests = 2
  rounds   = 1
  warmup   = 0
  cooldown = "100ms"
}
ladder "concurrency" {
  rungs    = [1, 2]
  requests = 10
  warmup   = 1
  cooldown = "100ms"
}
`

// llamaEmbed is the command of llama.cpp's server with its embedding model, on one core.
func llamaEmbed(t *testing.T, port string) []string {
	t.Helper()
	command(t, "bash", llamaScript, "install")
	dir := serversDir(t)
	// One arena: else each thread reserves address space that it does not use.
	return []string{"env", "MALLOC_ARENA_MAX=1", "taskset", "-c", "0", filepath.Join(dir, "llama-venv/bin/python"), absolute(t, filepath.Dir(llamaScript)+"/llama_server.py"),
		"-m", filepath.Join(dir, "models/minilm-f32.gguf"), "-a", "minilm", "--port", port, "-c", "1024", "-np", "2", "-t", "1", "--embeddings", "--pooling", "mean"}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	out, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// memoryPeak is the address space, in KiB, that a server takes for batches of 64.
func memoryPeak(t *testing.T, args []string, port string) int {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = cmd.Wait() }()
	body, err := json.Marshal(map[string]any{"model": "minilm", "input": strings.Split(strings.Repeat("one two three,", 64), ",")[:64]})
	if err != nil {
		t.Fatal(err)
	}
	served := 0
	for range 300 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:"+port+"/v1/embeddings", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				served++
			}
		}
		if served == 3 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmPeak:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil || served < 3 {
		t.Fatalf("%d batches were served; %v", served, err)
	}
	return n
}

// A real server that may not have the memory for a batch: the edge has that name, the
// server's own words and the line of its log, and the next ladder is whole.
func TestIntegrationOutOfMemory(t *testing.T) {
	s := started{folder: t.TempDir(), port: freePort(t)}
	s.spec = filepath.Join(s.folder, "memory.hcl")
	args := llamaEmbed(t, s.port)
	limit := memoryPeak(t, args, s.port) + 4<<10
	quoted, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("PORT", s.port, "LIMIT", strconv.Itoa(limit), "FOLDER", s.folder, "COMMAND", strings.Trim(string(quoted), "[]")).Replace(memorySpec)
	if err := os.WriteFile(s.spec, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	status, dir, said := s.run(t)
	if status != exitOK {
		t.Fatalf("exit status %d\n%s", status, said)
	}
	all := events(t, dir)
	if edges := reasons(all, record.EdgeFound); len(edges) != 1 || edges[0] != "outcome oom in 1 of 1 requests" {
		t.Errorf("edges: %q", edges)
	}
	lines := reasons(all, record.LogOOM)
	if len(lines) == 0 {
		t.Error("no line of the log says so")
	}
	t.Logf("at most %d KiB; the server's log: %q; started again: %q", limit, lines, reasons(all, record.RestartBegin))
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
	if next != 20 {
		t.Errorf("%d rows of the next ladder", next)
	}
}
