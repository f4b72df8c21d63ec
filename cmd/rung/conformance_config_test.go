//go:build integration

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const emittedSpec = `
experiment "emitted" {}
target {
  api   = "openai-chat"
  url   = "http://127.0.0.1:PORT"
  model = "tiny"
  timeout {
    request       = "5m"
    first_byte    = "4m"
    between_bytes = "2m"
  }
}
server {
  command = COMMAND
  env     = ENV
  restart = "never"
  ready { timeout = "10m" }
  stop { grace = "20s" }
}
metrics { interval = "200ms" }
gpu { source = "none" }
prompt "p" {
  tokens        = 32
  output_tokens = 16
}
prompt "q" { output_tokens = 16 }
baseline {
  idle     = "1s"
  prompt   = prompt.p
  requests = 20
}
ladder "concurrency" {
  rungs    = [1, 2, 4, 8]
  prompt   = prompt.p
  requests = 40
  cooldown = "100ms"
}
ladder "length" {
  axis     = "input_tokens"
  prompt   = prompt.q
  rungs    = [64, 256]
  rounds   = 2
  requests = 2
  cooldown = "100ms"
}
`

// The flags that a report emits start a real vLLM, and are in force there.
func TestConformanceEmittedFlags(t *testing.T) {
	command(t, "bash", filepath.Join(serverScripts, "start-vllm.sh"), "install")
	port := freePort(t)
	all := subjects(t, port)
	vllm := all[slices.IndexFunc(all, func(s subject) bool { return s.name == "vLLM chat" })]
	at := slices.Index(vllm.command, "--max-model-len")
	base := slices.Concat(vllm.command[:at], []string{"--dtype", "float32", "--enforce-eager"})

	p, dir := runEmitted(t, vllm, port, append(slices.Clone(base), "--max-model-len", "512", "--max-num-seqs", "4"))
	p.out.Reset()
	if status := p.execute(t.Context(), []string{"config", dir, "--for", "vllm"}); status != exitOK {
		t.Fatalf("exit status %d\n%s", status, p.err.String())
	}
	t.Log("\n" + p.out.String())
	var flags []string
	for line := range strings.Lines(p.out.String()) {
		if !strings.HasPrefix(line, "#") {
			flags = append(flags, strings.Fields(line)...)
		}
	}
	if !slices.Contains(flags, "--max-num-seqs") || !slices.Contains(flags, "--max-model-len") {
		t.Fatalf("flags %q", flags)
	}

	_, again := runEmitted(t, vllm, port, append(slices.Clone(base), flags...))
	m, _ := read(t, again)
	if want := flags[slices.Index(flags, "--max-model-len")+1]; m.Server.MaxModelLen == nil || want != "272" || *m.Server.MaxModelLen != 272 {
		t.Errorf("a length of %v is in force, and %s was emitted", m.Server.MaxModelLen, want)
	}
}

// runEmitted measures a vLLM that is started by a command.
func runEmitted(t *testing.T, vllm subject, port string, args []string) (*program, string) {
	t.Helper()
	s := started{folder: t.TempDir(), port: port}
	s.spec = filepath.Join(s.folder, "emitted.hcl")
	list, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer("PORT", port, "COMMAND", string(list), "ENV", environment(vllm, s.folder)).Replace(emittedSpec)
	if err := os.WriteFile(s.spec, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := newProgram()
	if status := s.execute(t, p); status != exitOK {
		t.Fatalf("exit status %d\n%s", status, p.err.String())
	}
	return p, strings.TrimSpace(p.out.String())
}
