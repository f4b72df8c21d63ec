package main

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"rung/sinks/parquet"
	"rung/sinks/record"
)

// startedSpec starts a fakeserver. MARK is in the environment of all that it starts.
const startedSpec = `
experiment "started" {}
target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:PORT"
  model = "m"
}
server {
  command = ["fakeserver", "KIND", "PORT", "FOLDER"]
  restart = "never" # but for a crash
  env     = { RUNG_TEST_MARK = "FOLDER" }
  ready { timeout = "READY" }
  stop { grace = "300ms" }
}
gpu { source = "none" }
prompt "p" { tokens = 8 }
baseline {
  idle     = "10ms"
  warmup   = 1
  requests = 3
}
ladder "batch" {
  rungs    = [1, 2, 4, 8]
  requests = 3
  rounds   = 1
  warmup   = 0
  cooldown = "1ms"
}
ladder "concurrency" {
  rungs    = [1, 2]
  requests = 6
  warmup   = 0
  cooldown = "1ms"
}
`

// started is a run of a fakeserver.
type started struct {
	folder, port, spec string
}

func newStarted(t *testing.T, kind, ready string) started {
	t.Helper()
	s := started{folder: t.TempDir(), port: freePort(t)}
	s.spec = filepath.Join(s.folder, "started.hcl")
	text := strings.NewReplacer("PORT", s.port, "KIND", kind, "FOLDER", s.folder, "READY", ready).Replace(startedSpec)
	if err := os.WriteFile(s.spec, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// run runs the spec and gives its exit status, its folder and what was said. No process
// of the server may be left.
func (s started) run(t *testing.T) (status int, dir, said string) {
	t.Helper()
	p := newProgram()
	status = s.execute(t, p)
	return status, strings.TrimSpace(p.out.String()), p.err.String()
}

func (s started) execute(t *testing.T, p *program) int {
	t.Helper()
	seen := follow(t, s.folder)
	status := p.execute(t.Context(), []string{"run", "--no-self-check", "--out", filepath.Join(s.folder, "results"), s.spec})
	seen.nothingLeft(t)
	return status
}

// processes are those that have a mark in their environment, and all of their groups: a
// process can write over its environment, and outlive the one that had it.
type processes struct {
	mark string
	quit chan struct{}
	done chan struct{}

	mu     sync.Mutex
	groups map[string]bool
}

// follow notes the groups of what has a mark, until nothingLeft.
func follow(t *testing.T, mark string) *processes {
	t.Helper()
	p := &processes{mark: mark, quit: make(chan struct{}), done: make(chan struct{}), groups: map[string]bool{}}
	if left := p.alive(); len(left) > 0 {
		t.Fatalf("before the run: %v", left)
	}
	go func() {
		defer close(p.done)
		for {
			p.alive()
			select {
			case <-p.quit:
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
	}()
	return p
}

// nothingLeft waits until all of them are gone.
func (p *processes) nothingLeft(t *testing.T) {
	t.Helper()
	close(p.quit)
	<-p.done
	var left []string
	for range 100 { // what was killed takes a moment
		if left = p.alive(); len(left) == 0 {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("processes are left: %v", left)
}

// alive lists them, each with its pid and its words, but for zombies.
func (p *processes) alive() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	folders, _ := filepath.Glob("/proc/[0-9]*")
	group := map[string]string{}
	for _, f := range folders {
		stat, err := os.ReadFile(f + "/stat")
		if err != nil {
			continue
		}
		// "pid (name) state parent group …"; the name may hold anything.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 3 || fields[0] == "Z" || fields[0] == "X" {
			continue
		}
		group[f] = fields[2]
		if env, err := os.ReadFile(f + "/environ"); err == nil && strings.Contains(string(env), "RUNG_TEST_MARK="+p.mark) {
			p.groups[fields[2]] = true
		}
	}
	var out []string
	for _, f := range folders {
		if p.groups[group[f]] {
			words, _ := os.ReadFile(f + "/cmdline")
			out = append(out, filepath.Base(f)+" "+strings.ReplaceAll(string(words), "\x00", " "))
		}
	}
	return out
}

func events(t *testing.T, dir string) []record.Event {
	t.Helper()
	m, err := parquet.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	all, err := parquet.ReadEvents(dir, m)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func reasons(events []record.Event, kind record.EventKind) []string {
	var out []string
	for _, e := range events {
		if e.Kind == kind {
			out = append(out, e.Reason)
		}
	}
	return out
}

// A server that is killed in a request, by SIGKILL or by its memory: the rung is the edge
// and has its name, the server is started once more, the next ladder is whole, and the
// run is done.
func TestServerDiesMidway(t *testing.T) {
	// What the first request of a new connection meets is reset; on one that had lain idle
	// it is sent again, and refused.
	for kind, outcomes := range map[string][]string{"killed": {"reset", "refused"}, "memory": {"oom"}} {
		t.Run(kind, func(t *testing.T) {
			s := newStarted(t, kind, "20s")
			status, dir, said := s.run(t)
			if status != exitOK {
				t.Fatalf("exit status %d\n%s", status, said)
			}
			all := events(t, dir)
			outcome := ""
			if edges := reasons(all, record.EdgeFound); len(edges) != 1 || !slices.Contains(outcomes, strings.Fields(edges[0])[1]) {
				t.Errorf("edges: %q", edges)
			} else {
				outcome = strings.Fields(edges[0])[1]
			}
			if begin := reasons(all, record.RestartBegin); len(begin) != 1 || !strings.Contains(begin[0], "server_gone") || !strings.Contains(begin[0], "signal: killed") {
				t.Errorf("restarts: %q", begin)
			}
			if ends := reasons(all, record.LadderEnd); len(ends) != 2 || ends[1] != "last rung" {
				t.Errorf("ladders: %q", ends)
			}
			m, rows := read(t, dir)
			next := 0
			for _, r := range rows {
				switch {
				case r.Ladder == "concurrency" && r.Counted && r.Outcome == record.OK:
					next++
				case r.Outcome == record.OOM && !strings.Contains(r.Error, "the server's log: terminate called after throwing an instance of 'std::bad_alloc'"):
					t.Errorf("%+v", r)
				}
			}
			if m.Status != record.Done || next != 12 {
				t.Errorf("status %s, %d rows of the next ladder", m.Status, next)
			}
			p := newProgram()
			if status := p.execute(t.Context(), []string{"report", dir}); status != exitOK || !strings.Contains(p.out.String(), "(4 fails: "+outcome) {
				t.Errorf("report: exit status %d\n%s%s", status, p.out.String(), p.err.String())
			}
			if kind == "memory" && !strings.Contains(p.out.String(), "bad_alloc") {
				t.Errorf("the report does not show the log's line:\n%s", p.out.String())
			}
		})
	}
}

// A server that is no good is an error with its name and its last lines, writes nothing,
// and leaves no process.
func TestServersThatCantBeHad(t *testing.T) {
	for kind, words := range map[string][]string{
		"exits":   {"ended before it was ready", "exit status 3", "no such model: /models/x"},
		"never":   {"not ready within 1s", "answers no request", "fakeserver never begins"},
		"another": {`has no model "m"`, `it lists "other"`},
		"taken":   {"something listens at 127.0.0.1:"},
	} {
		t.Run(kind, func(t *testing.T) {
			ready := "20s"
			if kind == "never" {
				ready = "1s"
			}
			s := newStarted(t, kind, ready)
			if kind == "taken" {
				ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:"+s.port)
				if err != nil {
					t.Fatal(err)
				}
				defer ln.Close()
				go func() { _ = http.Serve(ln, http.NotFoundHandler()) }() //nolint:gosec // loopback, for a test
			}
			status, dir, said := s.run(t)
			if status != exitFailed || dir != "" {
				t.Errorf("exit status %d, folder %q", status, dir)
			}
			for _, w := range append(words, "nothing was written") {
				if !strings.Contains(said, w) {
					t.Errorf("%q is not in:\n%s", w, said)
				}
			}
			if made, _ := filepath.Glob(filepath.Join(s.folder, "results", "*", "*")); len(made) > 0 {
				t.Errorf("%v", made)
			}
		})
	}
}

// A server with bad manners is measured all the same, and ended with all that it started.
func TestServersWithBadManners(t *testing.T) {
	for _, kind := range []string{"stubborn", "forks", "prints"} {
		t.Run(kind, func(t *testing.T) {
			if kind == "prints" && testing.Short() {
				t.Skip("prints 1 GiB")
			}
			s := newStarted(t, kind, "5m")
			status, dir, said := s.run(t)
			if status != exitOK {
				t.Fatalf("exit status %d\n%s", status, said)
			}
			info, err := os.Stat(filepath.Join(dir, "server.log"))
			if err != nil || info.Size() > 257<<20 {
				t.Errorf("%v, %v", info, err)
			}
		})
	}
}

// The log of a server that runs already is followed: what it says meanwhile are events,
// and its line about memory names the failures that an answer does not.
func TestAttachedServersLog(t *testing.T) {
	s := newStarted(t, "fails", "20s")
	path := filepath.Join(s.folder, "server.txt")
	log, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	cmd := exec.CommandContext(t.Context(), "fakeserver", "fails", s.port, s.folder)
	cmd.Stdout = log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	text, err := os.ReadFile(s.spec)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := strings.Index(string(text), "server {"), strings.Index(string(text), "gpu {")
	attached := string(text[:begin]) + "server {\n  log = \"server.txt\"\n}\n" + string(text[end:])
	if err := os.WriteFile(s.spec, []byte(attached), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if c, err := net.Dial("tcp", "127.0.0.1:"+s.port); err == nil { //nolint:noctx // loopback, answered at once
			_ = c.Close()
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	status, dir, said := s.run(t)
	if status != exitOK {
		t.Fatalf("exit status %d\n%s", status, said)
	}
	all := events(t, dir)
	if edges := reasons(all, record.EdgeFound); len(edges) != 1 || edges[0] != "outcome oom in 3 of 3 requests" {
		t.Errorf("edges: %q", edges)
	}
	if lines := reasons(all, record.LogOOM); len(lines) == 0 || !strings.HasPrefix(lines[0], "RuntimeError: DefaultCPUAllocator") {
		t.Errorf("%q", lines)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if status, _, said := s.run(t); status != exitUsage || !strings.Contains(said, "server.log: ") || !strings.Contains(said, "server.txt") {
		t.Errorf("exit status %d\n%s", status, said)
	}
}
