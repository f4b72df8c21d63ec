package serverlog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"rung/sinks/record"
	"rung/spec/plan"
)

// What servers print, and what it is about. The lines of vLLM, llama.cpp and Infinity
// are as they printed them; those of TEI and SGLang are in their words.
func TestKind(t *testing.T) {
	for _, tt := range []struct {
		want record.EventKind
		line string
	}{
		{record.LogQueue, `(APIServer pid=1) INFO 11-30 13:45:00 [loggers.py:259] Engine 000: Avg prompt throughput: 12.8 tokens/s, Avg generation throughput: 99.1 tokens/s, Running: 2 reqs, Waiting: 6 reqs, GPU KV cache usage: 0.4%, Prefix cache hit rate: 0.0%`},
		{record.LogBatch, `(APIServer pid=1) INFO 11-30 13:45:10 [loggers.py:259] Engine 000: Avg prompt throughput: 12.8 tokens/s, Avg generation throughput: 99.1 tokens/s, Running: 2 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.4%, Prefix cache hit rate: 0.0%`},
		{record.LogRefused, `INFO:     127.0.0.1:42510 - "POST /v1/embeddings HTTP/1.1" 429 Too Many Requests`},
		{"", `INFO:     127.0.0.1:42510 - "POST /v1/completions HTTP/1.1" 200 OK`},
		{record.LogOOM, `RuntimeError: [enforce fail at alloc_cpu.cpp:121] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 805306368 bytes. Error code 12 (Cannot allocate memory)`},
		{record.LogOOM, `torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.11 GiB`},
		{record.LogOOM, `terminate called after throwing an instance of 'std::bad_alloc'`},
		{record.LogOOM, `ValueError: No available memory for the cache blocks. Try increasing gpu_memory_utilization`},
		{record.LogOOM, `ggml_aligned_malloc: insufficient memory (attempted to allocate  512.00 MB): failed to allocate buffer of size 536870912`},
		{record.LogFault, `(EngineCore pid=1) ERROR 11-30 13:45:10 [core.py:1512] EngineCore encountered a fatal error.`},
		{record.LogFault, `RuntimeError: CUDA error: an illegal memory access was encountered`},
		{record.LogRefused, `2026-11-30T07:32:55.1Z ERROR openai_embed: text_embeddings_router::http::server: Model is overloaded`},
		{record.LogSetting, "2026-11-30T07:32:55.1Z WARN text_embeddings_router: router/src/lib.rs:232: Backend does not support a batch size > 8"},
		{record.LogSetting, "2026-11-30T07:32:55.1Z WARN text_embeddings_router: router/src/lib.rs:233: forcing `max_batch_requests=8`"},
		{record.LogSetting, `llama_context: n_ctx_seq (512) < n_ctx_train (2048) -- the full capacity of the model will not be utilized`},
		{record.LogSetting, `queue_size=16 to small over batch_size=8. Consider increasing queue size`},
		{record.LogQueue, `[2026-11-30 07:32:55] Decode batch. #running-req: 3, #token: 1000, token usage: 0.01, gen throughput (token/s): 20.1, #queue-req: 4`},
		{record.LogBatch, `[2026-11-30 07:32:55] Prefill batch. #new-seq: 1, #new-token: 512, #cached-token: 0, token usage: 0.00, #running-req: 0, #queue-req: 0`},
		{"", `INFO 11-30 13:45:00 [logger.py:39] Received request cmpl-1: prompt: 'we were out of memory and it was a CUDA error', params: …`},
		{"", ``},
	} {
		if got := Kind(tt.line); got != tt.want {
			t.Errorf("%q for %s", got, tt.line)
		}
		if tt.want != "" && !hinted(tt.line) {
			t.Errorf("nothing hints at %s", tt.line)
		}
	}
}

// An answered request, the line that most logs are full of, is not looked at.
func TestPlainLinesAreLeft(t *testing.T) {
	for _, line := range []string{`INFO:     127.0.0.1:42510 - "POST /v1/completions HTTP/1.1" 200 OK`, `0.00.446.086 I srv          init: listening on http://127.0.0.1:8101`, ""} {
		if hinted(line) {
			t.Error(line)
		}
	}
}

// A server that prints without end fills no memory: so many lines of a kind in a second,
// the others counted, each cut, on one line and valid.
func TestWatcherIsBounded(t *testing.T) {
	now := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	w := NewWatcher(func() time.Time { return now })
	for range 1000 {
		w.Line("out of memory \xff\x1b[31m\u202e" + strings.Repeat("é", 10_000))
	}
	now = now.Add(1500 * time.Millisecond)
	w.Line("Running: 1 reqs, Waiting: 2 reqs")
	got := w.Read()
	if len(got) != mostASecond+2 {
		t.Fatalf("%d events", len(got))
	}
	for _, e := range got {
		if len(e.Reason) > mostLine+len("…") || !utf8.ValidString(e.Reason) || strings.ContainsAny(e.Reason, "\x1b\u202e\n") || e.Time.IsZero() {
			t.Errorf("%q", e.Reason)
		}
	}
	if last := got[len(got)-1]; last.Kind != record.LogOOM || last.Reason != "(995 more lines of the kind)" {
		t.Errorf("%+v", last)
	}
	if again := w.Read(); again != nil {
		t.Errorf("%v", again)
	}
	for range 3000 { // and nobody reads
		now = now.Add(time.Second)
		w.Line("out of memory")
	}
	if n := len(w.Read()); n > mostHeld+1 {
		t.Errorf("%d events are held", n)
	}
}

// A log is followed from where it is, whatever becomes of its file; its beginning tells
// settings alone.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server.log")
	write := func(flag int, text string) {
		t.Helper()
		f, err := os.OpenFile(path, flag|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	write(os.O_TRUNC, "Using max model len 512\nout of memory long ago\nhalf a l")
	secrets := plan.Secrets{Headers: map[string]plan.Secret{"Authorization": plan.NewSecret("Bearer SEKRET-key")}}
	w, err := Open(path, secrets.Scrubber(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if s := w.Settings(); len(s) != 1 || s[0].InForce != "512" {
		t.Errorf("%+v", s)
	}
	var got []string
	see := func() {
		for _, e := range w.Read() {
			got = append(got, e.Reason)
		}
	}
	write(os.O_APPEND, "ine\nout of memory 1 with SEKRET-key and ")
	see()
	write(os.O_APPEND, "more\n"+strings.Repeat("x", 3*mostLooked)+" out of memory\nout of memory 2\n")
	see()
	write(os.O_TRUNC, "out of memory 3\n") // it was rotated by copying
	see()
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	see()
	write(os.O_TRUNC, "out of memory 4\n") // or by a new file
	see()
	write(os.O_APPEND, "out of memory 5\n")
	see()
	if text := strings.Join(got, "|"); len(got) != 5 || strings.Contains(text, "SEKRET") || strings.Contains(text, "xx") || !strings.HasPrefix(got[0], "out of memory 1 with ") || !strings.HasSuffix(got[0], " and more") {
		t.Errorf("%q", got)
	}
	for i, line := range got {
		if !strings.HasPrefix(line, fmt.Sprintf("out of memory %d", i+1)) {
			t.Errorf("%d: %q", i, line)
		}
	}
}

func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{dir: "is no file", filepath.Join(dir, "none"): "no such file"} {
		if _, err := Open(path, plan.Secrets{}.Scrubber(), time.Now); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v", err)
		}
	}
}
