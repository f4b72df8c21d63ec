//go:build integration

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"rung/sinks/record"
)

const (
	llamaScript = "../../runner/testdata/servers/start-llamacpp.sh"
	llamaURL    = "http://127.0.0.1:8102"
)

// serversDir is where the server scripts keep what they install.
func serversDir(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("RUNG_SERVERS_DIR"); dir != "" {
		return dir
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(cache, "rung-servers")
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// startLlama starts llama.cpp's servers anew, so that their counters begin at 0.
func startLlama(t *testing.T) {
	t.Helper()
	stop := func() { _ = exec.CommandContext(context.WithoutCancel(t.Context()), "bash", llamaScript, "stop").Run() }
	stop()
	t.Cleanup(stop)
	// To a file, not a pipe: the server would hold the pipe open for ever.
	log, err := os.Create(filepath.Join(t.TempDir(), "start.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.CommandContext(t.Context(), "bash", llamaScript)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(log.Name())
		t.Fatalf("starting llama.cpp: %v\n%s", err, text)
	}
}

// counter reads one counter of the server's own metrics page.
func counter(t *testing.T, name string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, llamaURL+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^` + name + ` (\d+)`).FindSubmatch(page)
	if m == nil {
		t.Fatalf("no %s in the metrics page", name)
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func slotsLaunched(t *testing.T) int {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(serversDir(t), "run", "llamacpp-embed.log"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(log), "launch_slot_")
}

// A real server, measured: every token that it counted is in a row.
func TestIntegrationRealEmbeddings(t *testing.T) {
	startLlama(t)
	tokens, slots := counter(t, "llamacpp:prompt_tokens_total"), slotsLaunched(t)
	dir := mustRun(t, "../../examples/real-embeddings.hcl")
	text := report(t, dir)
	t.Log("\n" + text)
	m, rows := read(t, dir)

	counted, rungs, sentTokens, sentInputs := 0, map[string]bool{}, 0, 0
	for _, r := range rows {
		sentTokens += r.InputTokensPlanned
		sentInputs += r.Inputs
		if !r.Counted {
			continue
		}
		counted++
		if r.InputTokens == nil || *r.InputTokens != r.InputTokensPlanned {
			t.Fatalf("row %s: the server counted %v tokens, planned were %d", r.ID, r.InputTokens, r.InputTokensPlanned)
		}
		if r.Phase == record.Measure {
			rungs[fmt.Sprint(r.Ladder, r.Value)] = true
		}
	}
	t.Logf("%d rows, %d counted, %d rungs; %d tokens and %d inputs in all rows", len(rows), counted, len(rungs), sentTokens, sentInputs)
	if len(rungs) < 5 || counted < 200 {
		t.Errorf("%d rungs and %d counted requests, wanted are 5 and 200", len(rungs), counted)
	}
	gotTokens, gotSlots := counter(t, "llamacpp:prompt_tokens_total")-tokens, slotsLaunched(t)-slots
	t.Logf("llamacpp:prompt_tokens_total grew by %d, slots launched by %d", gotTokens, gotSlots)
	if gotTokens != sentTokens || gotSlots != sentInputs {
		t.Errorf("the server counted %d tokens and %d inputs, the rows say %d and %d", gotTokens, gotSlots, sentTokens, sentInputs)
	}
	if !strings.Contains(text, "memory: unknown") {
		t.Error("the report does not say that memory is unknown")
	}
	if m.Server.InputForm != "ids" {
		t.Errorf("prompts were sent as %s", m.Server.InputForm)
	}
	noSimulated(t, dir)
	holdFigures(t, dir)
}

const chatSpec = `
experiment "chat" {}
target {
  api   = "openai-chat"
  url   = "http://127.0.0.1:8101"
  model = "smollm2"
}
gpu { source = "none" }
prompt "p" {
  tokens        = 64
  output_tokens = 8
}
baseline {
  idle     = "100ms"
  warmup   = 1
  requests = 3
}
ladder "concurrency" {
  rungs    = [1, 2]
  requests = 10
  warmup   = 1
  cooldown = "100ms"
}
`

// A chat has its template around it: text is aligned until the server counts 64.
func TestIntegrationChat(t *testing.T) {
	startLlama(t)
	spec := filepath.Join(t.TempDir(), "chat.hcl")
	if err := os.WriteFile(spec, []byte(chatSpec), 0o600); err != nil {
		t.Fatal(err)
	}
	m, rows := read(t, mustRun(t, spec))
	counted := 0
	for _, r := range rows {
		if r.Counted {
			counted++
			if r.InputTokens == nil || *r.InputTokens != 64 || r.OutputTokens == nil || *r.OutputTokens != 8 {
				t.Errorf("row %s: %v input and %v output tokens", r.ID, r.InputTokens, r.OutputTokens)
			}
		}
	}
	if counted != 23 {
		t.Errorf("%d counted rows, want 23", counted)
	}
	t.Logf("%d counted chats of 64 tokens, %d of them the template's, counted by %s", counted, m.Server.TemplateExtra, m.Server.Tokeniser)
}

func report(t *testing.T, dir string) string {
	t.Helper()
	p := newProgram()
	if status := p.execute(t.Context(), []string{"report", dir}); status != exitOK {
		t.Fatalf("report: exit status %d\n%s", status, p.err.String())
	}
	return p.out.String()
}

// noSimulated looks through every file of a run but its Parquet, which the rows
// stand for.
func noSimulated(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := strings.ReplaceAll(strings.ToLower(string(b)), `"simulated": false`, "")
		if at := strings.Index(text, "simulated"); at >= 0 {
			t.Errorf("%s speaks of simulated: …%s…", path, text[max(0, at-40):min(len(text), at+40)])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// The server counts what the plan says, in English, Chinese and code, whatever the
// API: in each counted row, and what had to be sent again is listed.
func TestIntegrationTokens(t *testing.T) {
	startLlama(t)
	for _, tt := range []struct {
		api     string
		lengths int // of the ladders
		args    []string
	}{
		{"embeddings", 4, []string{"testdata/tokens/embeddings.hcl"}},
		{"completions", 4, []string{"testdata/tokens/generate.hcl"}},
		// The template of a chat has 30 tokens of its own.
		{"chat", 3, []string{"--var", "api=openai-chat", "--var", "lengths=[64, 128, 200]", "testdata/tokens/generate.hcl"}},
	} {
		t.Run(tt.api, func(t *testing.T) {
			m, rows := read(t, mustRun(t, tt.args...))
			lengths, again := map[string]int{}, 0
			for _, r := range rows {
				switch {
				case r.Phase == record.Measure && !r.Counted:
					again++
					t.Logf("not counted: %s %g: %s, %s", r.Ladder, r.Value, r.Outcome, r.RejectReason)
				case r.Counted && (r.InputTokens == nil || *r.InputTokens != r.InputTokensPlanned):
					t.Errorf("row %s: the server counted %v tokens, planned were %d", r.ID, r.InputTokens, r.InputTokensPlanned)
				case r.Counted && r.Phase == record.Measure:
					lengths[fmt.Sprint(r.Ladder, " ", r.Value)]++
				}
				if r.Counted && r.OutputTokensPlanned != nil && (r.FirstTokenTS == nil || r.OutputTokens == nil || *r.OutputTokens != 4) {
					t.Errorf("row %s: no first token, or %v output tokens for 4", r.ID, r.OutputTokens)
				}
			}
			if len(lengths) != 3*tt.lengths {
				t.Errorf("%d texts and lengths, want %d: %v", len(lengths), 3*tt.lengths, lengths)
			}
			t.Logf("%d rows, %d texts and lengths, %d rows not counted; sent as %s, counted by %s, the template has %d", len(rows), len(lengths), again, m.Server.InputForm, m.Server.Tokeniser, m.Server.TemplateExtra)
		})
	}
}

// A chat shorter than its template is refused before anything is measured, with the
// least that can be.
func TestIntegrationTooShort(t *testing.T) {
	startLlama(t)
	p := newProgram()
	status := p.execute(t.Context(), []string{"run", "--out", t.TempDir(), "--var", "api=openai-chat", "--var", "lengths=[4]", "testdata/tokens/generate.hcl"})
	if status != exitFailed || !strings.Contains(p.err.String(), "a prompt of 4 tokens is too short: with what the server adds the least is 31") {
		t.Errorf("exit status %d: %s", status, p.err.String())
	}
}
