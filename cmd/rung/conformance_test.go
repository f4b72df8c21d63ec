//go:build integration

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"rung/sinks/parquet"
	"rung/sinks/record"
)

// subject is a real server, or one scripted from what a real one answered.
type subject struct {
	name, api, model string
	install          string // the script that installs it; empty: nothing is needed
	command          []string
	env              map[string]string
	over             int  // more tokens than it takes
	chat             bool // it generates, and streams
}

// subjects are the servers, each at a port.
func subjects(t *testing.T, port string) []subject {
	t.Helper()
	dir := serversDir(t)
	at := func(path string) string { return filepath.Join(dir, path) }
	pinned := func(args ...string) []string { return append([]string{"taskset", "-c", "0"}, args...) }
	vllm := map[string]string{"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind", "OMP_NUM_THREADS": "1", "DO_NOT_TRACK": "1"}
	llama := func(model, name string, more ...string) []string {
		return pinned(append([]string{at("llama-venv/bin/python"), absolute(t, serverScripts+"/llama_server.py"), "-m", at("models/" + model), "-a", name,
			"--port", port, "-c", "1024", "-np", "2", "-b", "512", "-t", "1"}, more...)...)
	}
	return []subject{
		{name: "llama.cpp chat", api: "openai-chat", model: "smollm2", install: "start-llamacpp.sh", chat: true, over: 600,
			command: llama("SmolLM2-135M-Instruct.Q4_1.gguf", "smollm2")},
		{name: "llama.cpp embeddings", api: "openai-embeddings", model: "minilm", install: "start-llamacpp.sh", over: 600,
			command: llama("minilm-f32.gguf", "minilm", "--embeddings", "--pooling", "mean")},
		{name: "TEI (scripted)", api: "tei-embed", model: "/models/minilm-onnx", over: 300, command: []string{"faketei", port}},
		{name: "Infinity", api: "openai-embeddings", model: "minilm", install: "start-infinity.sh", over: 400,
			env: map[string]string{"OMP_NUM_THREADS": "1", "INFINITY_ANONYMOUS_USAGE_STATS": "0", "INFINITY_QUEUE_SIZE": "16", "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "DO_NOT_TRACK": "1"},
			command: pinned(at("infinity-venv/bin/infinity_emb"), "v2", "--model-id", at("models/minilm"), "--served-model-name", "minilm", "--engine", "torch", "--device", "cpu",
				"--dtype", "float32", "--no-bettertransformer", "--no-model-warmup", "--host", "127.0.0.1", "--port", port, "--batch-size", "8", "--url-prefix", "/v1", "--lengths-via-tokenize")},
		{name: "vLLM embeddings", api: "openai-embeddings", model: "minilm", install: "start-vllm.sh", over: 300, env: vllm,
			command: pinned(at("vllm-venv/bin/vllm"), "serve", at("models/minilm"), "--served-model-name", "minilm", "--host", "127.0.0.1", "--port", port, "--runner", "pooling",
				"--max-num-seqs", "8", "--max-num-queued-reqs", "16", "--dtype", "float32", "--enforce-eager")},
		{name: "vLLM chat", api: "openai-chat", model: "tiny", install: "start-vllm.sh", chat: true, over: 600, env: vllm,
			command: pinned(at("vllm-venv/bin/vllm"), "serve", at("models/tiny-llama"), "--served-model-name", "tiny", "--host", "127.0.0.1", "--port", port,
				"--max-model-len", "512", "--max-num-seqs", "2", "--max-num-queued-reqs", "8", "--dtype", "float32", "--enforce-eager")},
	}
}

// conformanceSpec is one run in which every check has a part.
const conformanceSpec = `
experiment "conformance" {}
target {
  api   = "API"
  url   = "http://127.0.0.1:PORT"
  model = "MODEL"
  timeout { # of a busy machine
    request = "10m"
    STREAM
  }
}
server {
  command = COMMAND
  env     = ENV
  restart = "never" # but for a crash
  ready { timeout = "10m" }
  stop { grace = "20s" }
}
metrics { interval = "200ms" }
gpu { source = "none" }
prompt "p" {
  tokens = 64
  OUTPUT
}
prompt "long" {
  OUTPUT
}
baseline {
  idle     = "1s"
  prompt   = prompt.p
  warmup   = 2
  requests = 5
}
ladder "FIRST" {
  rungs    = [1, 4]
  prompt   = prompt.p
  rounds   = 1
  requests = 8
  warmup   = 1
  cooldown = "1ms"
}
ladder "length" {
  axis     = "input_tokens"
  rungs    = [64, 200, OVER]
  prompt   = prompt.long
  rounds   = 1
  requests = 3
  warmup   = 0
  cooldown = "1ms"
  stop { confirm_rounds = 0 }
}
ladder "capacity" {
  axis     = "concurrency"
  rungs    = [32]
  prompt   = prompt.p
  BATCH
  requests = 64
  warmup   = 0
  cooldown = "1ms"
  stop { confirm_rounds = 0 }
}
ladder "killed" {
  axis     = "concurrency"
  rungs    = [2, 3]
  prompt   = prompt.p
  requests = 100
  warmup   = 0
  cooldown = "1ms"
}
ladder "after" {
  axis     = "concurrency"
  rungs    = [1, 2]
  prompt   = prompt.p
  requests = 8
  warmup   = 1
  cooldown = "1ms"
}
`

// conformed is what a run of a subject left, for the checks.
type conformed struct {
	subject  subject
	manifest record.Manifest
	rows     []record.Request
	server   []record.ServerSample
	events   []record.Event
	said     string        // on stderr
	waited   time.Duration // until it was ready
	badModel string        // what a run with another model said
	badExit  int
}

// serverScripts is where the scripts that install the servers are.
const serverScripts = "../../runner/testdata/servers"

// TestConformance runs rung against every server and prints which check passed, and
// which the server has nothing for.
func TestConformance(t *testing.T) {
	var table []verdicts
	for i := range subjects(t, "0") {
		port := freePort(t)
		s := subjects(t, port)[i]
		t.Run(s.name, func(t *testing.T) {
			if s.install != "" {
				command(t, "bash", filepath.Join(serverScripts, s.install), "install")
			}
			c := conform(t, s, port)
			v := c.check()
			for _, r := range v.results {
				if r.state == broken {
					t.Errorf("%s: %s", r.check, r.evidence)
				}
			}
			if t.Failed() {
				t.Log(liveLine.ReplaceAllString(c.said, ""))
			}
			table = append(table, v)
		})
	}
	t.Log(tabulate(table))
}

// liveLine is what a terminal shows over and over.
var liveLine = regexp.MustCompile(`\r\x1b\[K[^\r\n]*`)

// conform runs the spec of a subject. While it runs another run asks the same server for
// another model, and the server is killed in the ladder "killed".
func conform(t *testing.T, s subject, port string) conformed {
	t.Helper()
	run := started{folder: t.TempDir(), port: port}
	run.spec = filepath.Join(run.folder, "conformance.hcl")
	text := specOf(t, s, port, run.folder)
	other := filepath.Join(run.folder, "other.hcl")
	begin, end := strings.Index(text, "server {"), strings.Index(text, "metrics {")
	for path, spec := range map[string]string{run.spec: text, other: strings.ReplaceAll(text[:begin]+text[end:], `"`+s.model+`"`, `"no-such-model"`)} {
		if err := os.WriteFile(path, []byte(spec), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := conformed{subject: s}
	p := newProgram()
	p.errTTY, p.width = true, func() int { return 200 } // so that a round is seen as it goes on
	p.env = func(name string) (string, bool) {
		return map[string]string{"LC_ALL": "C.UTF-8"}[name], name == "LC_ALL"
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		if !said(ctx, p, "baseline: idle") {
			return
		}
		q := newProgram()
		out.badExit = q.execute(ctx, []string{"run", "--no-self-check", "--out", filepath.Join(run.folder, "other"), other})
		out.badModel = q.err.String()
	}()
	go func() {
		if said(ctx, p, "ladder killed:", "/100") { // in a round
			killFirst(run.folder)
		}
	}()
	begun := time.Now()
	go func() {
		if said(ctx, p, "asking the server for its model") {
			out.waited = time.Since(begun)
		}
	}()
	status := run.execute(t, p)
	<-asked
	if status != exitOK {
		t.Fatalf("exit status %d\n%s", status, p.err.String())
	}
	out.said = p.err.String()
	dir := strings.TrimSpace(p.out.String())
	out.manifest, out.rows = read(t, dir)
	out.events = events(t, dir)
	var err error
	if out.server, err = parquet.ReadServer(dir, out.manifest); err != nil {
		t.Fatal(err)
	}
	return out
}

func specOf(t *testing.T, s subject, port, mark string) string {
	t.Helper()
	args, err := json.Marshal(s.command)
	if err != nil {
		t.Fatal(err)
	}
	output, batch, first, stream := "", "batch    = 4", "batch", ""
	if s.chat {
		output, batch, first, stream = "output_tokens = 8", "", "concurrency", "first_byte = \"10m\""
	}
	return strings.NewReplacer("API", s.api, "PORT", port, "MODEL", s.model, "COMMAND", string(args), "ENV", environment(s, mark),
		"OUTPUT", output, "BATCH", batch, "FIRST", first, "STREAM", stream, "OVER", fmt.Sprint(s.over)).Replace(conformanceSpec)
}

// environment is a subject's, with a mark by which its processes are found.
func environment(s subject, mark string) string {
	env := fmt.Sprintf("{ RUNG_TEST_MARK = %q", mark)
	for _, name := range slices.Sorted(maps.Keys(s.env)) {
		env += fmt.Sprintf(", %s = %q", name, s.env[name])
	}
	return env + " }"
}

// said waits until a program says something, and something else after it.
func said(ctx context.Context, p *program, words ...string) bool {
	all := func() bool {
		rest, ok := p.err.String(), true
		for _, w := range words {
			_, after, found := strings.Cut(rest, w)
			rest, ok = after, ok && found
		}
		return ok
	}
	for !all() {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(20 * time.Millisecond):
		}
	}
	return true
}

// killFirst kills the process that was started first of those with a mark: the server's
// own, and nothing that it started.
func killFirst(mark string) {
	first := 0
	for _, process := range (&processes{mark: mark, groups: map[string]bool{}}).alive() {
		var pid int
		if _, err := fmt.Sscan(process, &pid); err == nil && (first == 0 || pid < first) {
			first = pid
		}
	}
	if first != 0 {
		_ = syscall.Kill(first, syscall.SIGKILL)
	}
}

// tabulate is a table of servers and checks, and the evidence below it.
func tabulate(table []verdicts) string {
	var b strings.Builder
	b.WriteString("\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for i, v := range table {
		if i == 0 {
			fmt.Fprint(w, "server")
			for _, r := range v.results {
				fmt.Fprint(w, "\t", r.check)
			}
			fmt.Fprintln(w)
		}
		fmt.Fprint(w, v.server)
		for _, r := range v.results {
			fmt.Fprint(w, "\t", r.state)
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush()
	for _, v := range table {
		fmt.Fprintf(&b, "\n%s\n", v.server)
		for _, r := range v.results {
			fmt.Fprintf(&b, "  %-13s %-11s  %s\n", r.check, r.state, r.evidence)
		}
	}
	return b.String()
}
