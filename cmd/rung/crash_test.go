package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"rung/results"
	"rung/results/resultstest"
	"rung/runner/sim"
	"rung/sinks/parquet"
	"rung/sinks/record"
)

// crashSpec has all that a run can be killed in: a baseline, passes, an edge with its
// confirming rounds, and many requests in flight.
const crashSpec = `
experiment "crash" {
  seed = 5
}
target {
  api   = "openai-embeddings"
  url   = "%s"
  model = "m"
}
simulator {
  overhead         = "2ms"
  floor            = "2ms"
  per_token        = "1us"
  memory_total     = "10GiB"
  memory_idle      = "4GiB"
  memory_per_token = "64MiB"
}
gpu {
  source = "none"
}
prompt "p" {
  tokens = 16
}
baseline {
  idle     = "50ms"
  requests = 10
}
ladder "batch" {
  rungs    = [1, 2, 4, 8]
  passes   = 2
  rounds   = 3
  requests = 6
  cooldown = "20ms"
}
ladder "concurrency" {
  rungs    = [1, 2, 4]
  passes   = 2
  requests = 60
  cooldown = "20ms"
}
`

// ownProcesses skips a test of rung's own processes under the race detector, which makes them
// ten times slower, and whose findings in them nobody would see.
func ownProcesses(t *testing.T) {
	t.Helper()
	if raced {
		t.Skip("processes of their own, which the race detector does not see")
	}
}

// crashTrials is how many runs are killed; RUNG_CRASH says another number.
func crashTrials(t *testing.T) int {
	t.Helper()
	if s := os.Getenv("RUNG_CRASH"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return 4
}

// A run that is killed at any time loses nothing: what the server had answered by then is
// in its tables but for the last moment, and once resumed it has done all of its work,
// none of it twice. The simulated server's own log says so.
func TestKilledRunsLoseNothing(t *testing.T) {
	ownProcesses(t)
	n := crashTrials(t)
	want := crashWork(t, crashReference(t))
	var wg sync.WaitGroup
	var mu sync.Mutex
	passed, kills, lost := 0, 0, 0
	trials := make(chan int)
	for range 2 {
		wg.Go(func() {
			for i := range trials {
				c := &crash{t: t, rng: rand.New(rand.NewPCG(7, uint64(i))), dir: filepath.Join(t.TempDir(), fmt.Sprint(i))}
				err := c.trial(want)
				mu.Lock()
				kills, lost = kills+c.kills, lost+c.lost
				if err == nil {
					passed++
				} else {
					t.Errorf("trial %d: %v", i, err)
				}
				mu.Unlock()
			}
		})
	}
	for i := range n {
		trials <- i
	}
	close(trials)
	wg.Wait()
	t.Logf("%d passed, %d failed: %d kills, of whose requests the last %d were answered and not yet recorded", passed, n-passed, kills, lost)
}

// crashReference is the run that nobody kills.
func crashReference(t *testing.T) *resultstest.Recorded {
	t.Helper()
	c := &crash{t: t, dir: t.TempDir()}
	if err := c.serve(); err != nil {
		t.Fatal(err)
	}
	defer c.end()
	if out, err := c.rung("run", c.spec, "--no-self-check", "--out", c.dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	run, err := c.open()
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// crashWork is what a report rests on: each planned request that counts, with what became
// of it.
func crashWork(t *testing.T, r *resultstest.Recorded) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, q := range r.Requests {
		if q.Counted {
			out[fmt.Sprintf("%s %s pass %d rung %d round %d request %d: %s", q.Phase, q.Ladder, q.Pass, q.Rung, q.Round, q.Index, q.Outcome)]++
		}
	}
	if len(out) < 400 {
		t.Fatalf("only %d requests in a run that nobody killed", len(out))
	}
	return out
}

// crash is one trial: a simulated server, and a run against it that is killed.
type crash struct {
	t         *testing.T
	rng       *rand.Rand
	dir, spec string
	text      string // of the spec, with a place for the url; empty: crashSpec
	server    *exec.Cmd
	log       *os.File
	missing   map[string]bool // answered and not in the tables, by the kills so far
	kills     int
	lost      int
}

func (c *crash) rung(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(c.t.Context(), "rung", args...)
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	return cmd
}

var servesAt = regexp.MustCompile(`simulated server at (http://\S+),`)

// serve starts the simulated server as a process that no kill of the run touches.
func (c *crash) serve() error {
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	c.spec, c.text = filepath.Join(c.dir, "crash.hcl"), cmp.Or(c.text, crashSpec)
	if err := os.WriteFile(c.spec, fmt.Appendf(nil, c.text, "http://127.0.0.1:1"), 0o644); err != nil {
		return err
	}
	var err error
	if c.log, err = os.Create(filepath.Join(c.dir, "server.jsonl")); err != nil {
		return err
	}
	c.server = c.rung("sim", c.spec, "--listen", "127.0.0.1:0")
	c.server.Stdout = c.log
	said, err := c.server.StderrPipe()
	if err != nil {
		return err
	}
	if err := c.server.Start(); err != nil {
		return err
	}
	var m []string
	for lines := bufio.NewScanner(said); m == nil && lines.Scan(); {
		m = servesAt.FindStringSubmatch(lines.Text())
	}
	if m == nil {
		c.end()
		return errors.New("the simulated server did not say where it is")
	}
	go func() { _, _ = io.Copy(io.Discard, said) }() // until the server ends
	return os.WriteFile(c.spec, fmt.Appendf(nil, c.text, m[1]), 0o644)
}

func (c *crash) end() {
	_ = c.server.Process.Kill()
	_ = c.server.Wait()
	_ = c.log.Close()
}

func (c *crash) open() (*resultstest.Recorded, error) {
	dirs, err := results.Find(filepath.Join(c.dir, "crash"))
	if err != nil {
		return nil, err
	}
	run, err := results.Open(dirs[len(dirs)-1])
	if err != nil {
		return nil, err
	}
	rows, err := parquet.ReadRequests(run.Dir, run.Manifest) // with what no report looks at
	return &resultstest.Recorded{Run: *run, Requests: rows}, err
}

// trial kills a run up to three times, and then lets it come to its end.
func (c *crash) trial(want map[string]int) error {
	if err := c.serve(); err != nil {
		return err
	}
	defer c.end()
	c.missing = map[string]bool{}
	args := []string{"run", c.spec, "--no-self-check", "--out", c.dir}
	for range 1 + c.rng.IntN(3) {
		ended, err := c.kill(args)
		if err != nil || ended {
			return err
		}
		if run, err := c.open(); err == nil {
			if run.Manifest.Status == record.Done && !run.Unverified { // the kill came behind its end
				return c.checkEnded(want)
			}
			args = []string{"run", c.spec, "--no-self-check", "--resume", filepath.Join(c.dir, "crash")}
		}
		if err := c.checkKilled(); err != nil {
			return err
		}
	}
	if out, err := c.rung(args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", args, err, out)
	}
	return c.checkEnded(want)
}

// kill starts a run and kills it some time later. ended says that it was quicker.
func (c *crash) kill(args []string) (ended bool, err error) {
	cmd := c.rung(args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		return false, err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			return false, fmt.Errorf("%w\n%s", err, said.Bytes())
		}
		return true, nil
	case <-time.After(time.Duration(c.rng.IntN(3000)) * time.Millisecond):
	}
	c.kills++
	_ = cmd.Process.Kill()
	<-done
	return false, nil
}

// answered are the requests that the server answered, in the order in which it did, by
// the digest of their bytes.
func (c *crash) answered() ([]string, error) {
	return c.logged(func(e sim.Entry) bool { return e.Status != 0 })
}

// received are all requests that came to it.
func (c *crash) received() ([]string, error) {
	return c.logged(func(sim.Entry) bool { return true })
}

func (c *crash) logged(wanted func(sim.Entry) bool) ([]string, error) {
	b, err := os.ReadFile(c.log.Name())
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range strings.Lines(string(b)) {
		var e sim.Entry
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return nil, err
		}
		if wanted(e) && strings.HasSuffix(e.Path, "/embeddings") {
			out = append(out, e.BodySHA256)
		}
	}
	return out, nil
}

// mostInFlight bounds how far what is recorded may be out of the order of the answers.
const mostInFlight = 4

// checkKilled reads what is there after a kill. What the server had answered is all in it
// but for the last moment before the kill: what is missing is the end of the server's log.
func (c *crash) checkKilled() error {
	run, err := c.open()
	if err != nil {
		return nil //nolint:nilerr // it was killed before it had a folder
	}
	if out, err := c.rung("report", run.Dir).CombinedOutput(); err != nil || !bytes.Contains(out, []byte("has not ended")) {
		return fmt.Errorf("the report of a killed run: %w\n%s", err, out)
	}
	have := map[string]bool{}
	for _, q := range run.Requests {
		have[q.BodySHA256] = true
	}
	answered, err := c.answered()
	if err != nil {
		return err
	}
	after := 0 // requests in the tables that were answered after the first that is missing
	var missing []string
	for _, sum := range answered {
		switch {
		case have[sum] && len(missing) > 0:
			after++
		case !have[sum] && !c.missing[sum]:
			missing = append(missing, sum)
		}
	}
	if after > mostInFlight {
		return fmt.Errorf("%d of %d requests that the server answered are missing, and %d that it answered later are there", len(missing), len(answered), after)
	}
	for _, sum := range missing {
		c.missing[sum] = true
	}
	c.lost += len(missing)
	return nil
}

// checkEnded holds the tables of a run that was killed and resumed against the plan's
// work and against the server's log.
func (c *crash) checkEnded(want map[string]int) error {
	run, err := c.open()
	if err != nil {
		return err
	}
	if run.Manifest.Status != record.Done || run.Unverified {
		return fmt.Errorf("it ended as %q, unverified %t", run.Manifest.Status, run.Unverified)
	}
	if diff := gocmp.Diff(want, crashWork(c.t, run)); diff != "" {
		return fmt.Errorf("its work is not that of a run that nobody killed (-whole +killed):\n%s", diff)
	}
	answered, err := c.answered()
	if err != nil {
		return err
	}
	times := map[string]int{}
	for _, sum := range answered {
		times[sum]++
	}
	counted := map[string]bool{}
	for _, q := range run.Requests {
		switch {
		case q.Counted && counted[q.BodySHA256]:
			return fmt.Errorf("a request counts twice: %+v", q)
		case times[q.BodySHA256] == 0 && q.Outcome == record.OK:
			return fmt.Errorf("a success that the server does not know of: %+v", q)
		}
		counted[q.BodySHA256] = counted[q.BodySHA256] || q.Counted
		times[q.BodySHA256]--
	}
	n := int64(len(run.Requests))
	if n != run.Manifest.Counts.Requests {
		return fmt.Errorf("%d requests, and the manifest says %d", n, run.Manifest.Counts.Requests)
	}
	return nil
}
