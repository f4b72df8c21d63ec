package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rung/runner/sim"
	"rung/sinks/parquet"
	"rung/sinks/record"
)

// program is the app with everything of the process replaced.
type program struct {
	*app
	out, err   syncBuffer
	interrupts chan struct{}
}

// syncBuffer is a stream that several goroutines write to, as they do to a
// process's.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func (s *syncBuffer) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.b.Reset()
}

func newProgram() *program {
	p := &program{interrupts: make(chan struct{}, 2)}
	p.app = &app{
		stdin: strings.NewReader(""), stdout: &p.out, stderr: &p.err, now: time.Now, interrupts: p.interrupts,
		env:   func(name string) (string, bool) { return "C.UTF-8", name == "LC_ALL" },
		width: func() int { return 0 },
	}
	return p
}

// mustRun runs a spec and gives the run's folder.
func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	p := newProgram()
	if status := p.execute(t.Context(), append([]string{"run", "--out", t.TempDir()}, args...)); status != exitOK {
		t.Fatalf("exit status %d\n%s", status, p.err.String())
	}
	return strings.TrimSpace(p.out.String())
}

func read(t *testing.T, dir string) (record.Manifest, []record.Request) {
	t.Helper()
	m, err := parquet.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := parquet.ReadRequests(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	return m, rows
}

// The quickstart run twice: the bodies agree row by row, and the simulated
// server's own log agrees with the rows.
func TestQuickstartTwice(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the quickstart in real time, twice")
	}
	t.Parallel()
	var sums [2]map[string]string
	for i := range sums {
		dir := mustRun(t, "../../examples/quickstart.hcl")
		m, rows := read(t, dir)
		if !m.Simulated || m.Status != record.Done || !strings.Contains(strings.ToLower(m.GPUs[0].Name), "simulated") {
			t.Errorf("manifest: simulated %t, status %s, GPU %q", m.Simulated, m.Status, m.GPUs[0].Name)
		}
		sums[i] = map[string]string{}
		for _, r := range rows {
			if r.Attempt == 0 { // a round that the machine disturbed is sent again, with bodies of its own
				sums[i][r.ID] = r.BodySHA256
			}
		}
		compareLog(t, filepath.Join(dir, "server.log"), rows)
	}
	if len(sums[0]) < 400 {
		t.Errorf("only %d rows", len(sums[0]))
	}
	if diff := cmp.Diff(sums[0], sums[1]); diff != "" {
		t.Errorf("the bodies differ:\n%s", diff)
	}
}

// compareLog holds a run's rows against what the simulated server says that it
// received: the same bodies, each as often, with the same tokens and statuses.
func compareLog(t *testing.T, path string, rows []record.Request) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type seen struct{ Times, Inputs, Tokens, Status int }
	server, client := map[string]seen{}, map[string]seen{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e sim.Entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		server[e.BodySHA256] = seen{server[e.BodySHA256].Times + 1, e.Inputs, e.InputTokens, e.Status}
	}
	for _, r := range rows {
		client[r.BodySHA256] = seen{client[r.BodySHA256].Times + 1, r.Inputs, r.InputTokensPlanned, *r.Status}
	}
	if diff := cmp.Diff(server, client); diff != "" {
		t.Errorf("the server's log (-) and the rows (+) differ:\n%s", diff)
	}
}

const slowSpec = `
experiment "slow" {}
target {
  api   = "openai-embeddings"
  model = "m"
}
simulator {
  floor = "100ms"
  noise = 0
}
gpu { source = "none" }
prompt "p" { tokens = 8 }
baseline {
  idle     = "1ms"
  warmup   = 0
  requests = 1000
}
ladder "batch" {
  rungs = [1, 2]
}
`

// An interrupt ends a run with status 130, and what was measured is readable.
func TestInterrupt(t *testing.T) {
	for _, times := range []int{1, 2} {
		spec := filepath.Join(t.TempDir(), "slow.hcl")
		if err := os.WriteFile(spec, []byte(slowSpec), 0o600); err != nil {
			t.Fatal(err)
		}
		p := newProgram()
		out := t.TempDir()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		go func() {
			for range times {
				time.Sleep(300 * time.Millisecond)
				p.interrupts <- struct{}{}
			}
		}()
		if status := p.execute(ctx, []string{"run", "--out", out, spec}); status != exitInterrupted {
			t.Fatalf("exit status %d\n%s", status, p.err.String())
		}
		dir := strings.TrimSpace(p.out.String())
		m, rows := read(t, dir)
		if m.Status != record.InterruptedStatus {
			t.Errorf("status %s", m.Status)
		}
		n := 0
		for _, r := range rows {
			if r.Phase == record.Baseline {
				n++
				if r.Counted || r.RejectReason != "interrupted" {
					t.Errorf("a row of the cut round: counted %t, %q", r.Counted, r.RejectReason)
				}
			}
		}
		if n == 0 || n == 1000 {
			t.Errorf("%d rows of the baseline", n)
		}
		p.out.Reset()
		if status := p.execute(ctx, []string{"report", dir}); status != exitOK || !strings.Contains(p.out.String(), "interrupted") {
			t.Errorf("report: exit status %d\n%s%s", status, p.out.String(), p.err.String())
		}
	}
}

// A folder that takes nothing more ends the run with status 1, naming what could
// not be written; the manifest says that the run failed.
func TestSinkFails(t *testing.T) {
	spec := filepath.Join(t.TempDir(), "slow.hcl")
	if err := os.WriteFile(spec, []byte(strings.ReplaceAll(slowSpec, "1000", "3")), 0o600); err != nil {
		t.Fatal(err)
	}
	p := newProgram()
	out := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	go func() { // once the baseline's part is there, its folder is moved away
		for ctx.Err() == nil {
			parts, _ := filepath.Glob(filepath.Join(out, "slow", "*", "requests", "*baseline.parquet"))
			if len(parts) > 0 {
				folder := filepath.Dir(parts[0])
				_ = os.Rename(folder, folder+"-gone")
				return
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if status := p.execute(ctx, []string{"run", "--out", out, spec}); status != exitFailed {
		t.Fatalf("exit status %d\n%s", status, p.err.String())
	}
	if text := p.err.String(); !strings.Contains(text, "requests") || !strings.Contains(text, "What was measured is in") {
		t.Errorf("stderr: %s", text)
	}
	m, err := parquet.ReadManifest(strings.TrimSpace(p.out.String()))
	if err != nil || m.Status != record.Failed || m.Error == "" {
		t.Errorf("manifest: status %q, error %q, %v", m.Status, m.Error, err)
	}
}

// An output folder that can't be made is named, and nothing is sent.
func TestOutIsAFile(t *testing.T) {
	spec := filepath.Join(t.TempDir(), "slow.hcl")
	if err := os.WriteFile(spec, []byte(slowSpec), 0o600); err != nil {
		t.Fatal(err)
	}
	p := newProgram()
	if status := p.execute(t.Context(), []string{"run", "--out", spec, spec}); status != exitFailed || !strings.Contains(p.err.String(), spec) {
		t.Errorf("exit status %d\n%s", status, p.err.String())
	}
}

// A long error is wrapped on a terminal alone: what a program reads is one line.
func TestLongErrorIsWrapped(t *testing.T) {
	for tty, most := range map[bool]int{true: 40, false: 1000} {
		p := newProgram()
		p.errTTY, p.width = tty, func() int { return 40 }
		if status := p.execute(t.Context(), []string{"check", "--var", "x", "none.hcl"}); status != exitUsage {
			t.Errorf("status %d", status)
		}
		p.execute(t.Context(), []string{"help", "language", "no-such-word"})
		lines := strings.Split(strings.TrimSpace(p.err.String()), "\n")
		if wrapped := len(lines) > 2; wrapped != tty {
			t.Errorf("%q", lines)
		}
		for _, line := range lines {
			if len(line) > most {
				t.Errorf("%d columns: %s", len(line), line)
			}
		}
	}
}
