//go:build unix

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rung/results/resultstest"
	"rung/sinks/record"
)

// under is a run of the crash test's spec under way, against its own server.
type under struct {
	*crash
	cmd  *exec.Cmd
	said bytes.Buffer
}

// underway starts a run and returns once it has a first round's requests in its journal.
func underway(t *testing.T, out string, change func(spec string) string) *under {
	t.Helper()
	u := &under{crash: &crash{t: t, dir: t.TempDir()}}
	if err := u.serve(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(u.end)
	if change != nil {
		b, err := os.ReadFile(u.spec)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(u.spec, []byte(change(string(b))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out != "" {
		u.dir = out
	}
	u.cmd = u.rung("run", u.spec, "--no-self-check", "--out", u.dir)
	u.cmd.Stdout, u.cmd.Stderr = &u.said, &u.said
	if err := u.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = u.cmd.Process.Kill() })
	pattern := filepath.Join(u.dir, "crash", "*", "requests", "0003-*.parquet")
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			return u
		}
		if time.Now().After(deadline) {
			_ = u.cmd.Process.Kill()
			_ = u.cmd.Wait()
			t.Fatalf("no first rung in time:\n%s", u.said.String())
		}
	}
}

// ends waits for the run and gives its exit status.
func (u *under) ends() int {
	err := u.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		u.t.Fatal(err)
	}
	return u.cmd.ProcessState.ExitCode()
}

// An interrupt, a terminal that closes and a scheduler that ends a job are one: what is in
// flight comes back, all that the server answered is in the tables, and the run can go on.
func TestSignals(t *testing.T) {
	ownProcesses(t)
	want := crashWork(t, crashReference(t))
	for name, signal := range map[string]os.Signal{"SIGINT": os.Interrupt, "SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			u := underway(t, "", nil)
			if err := u.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if status := u.ends(); status != exitInterrupted {
				t.Errorf("status %d\n%s", status, u.said.String())
			}
			run, err := u.open()
			if err != nil {
				t.Fatal(err)
			}
			if run.Manifest.Status != record.InterruptedStatus || run.Unverified {
				t.Errorf("%q, unverified %t", run.Manifest.Status, run.Unverified)
			}
			if !strings.Contains(u.said.String(), "to go on with it: rung run ") {
				t.Errorf("it does not say how to go on:\n%s", u.said.String())
			}
			u.allRecorded(run)
			if out, err := u.rung("run", u.spec, "--no-self-check", "--resume", run.Dir).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if err := u.checkEnded(want); err != nil {
				t.Error(err)
			}
		})
	}
}

// allRecorded holds that whatever the server answered is a row.
func (u *under) allRecorded(run *resultstest.Recorded) {
	u.t.Helper()
	answered, err := u.answered()
	if err != nil {
		u.t.Fatal(err)
	}
	have := map[string]bool{}
	for _, q := range run.Requests {
		have[q.BodySHA256] = true
	}
	for _, sum := range answered {
		if !have[sum] {
			u.t.Errorf("a request that the server answered is in no table: %s", sum)
		}
	}
}

// A second interrupt gives up what is in flight, and its rows say so.
func TestSecondInterrupt(t *testing.T) {
	ownProcesses(t)
	u := underway(t, "", func(spec string) string {
		return strings.Replace(spec, "rounds   = 3\n  requests = 6\n", "rounds   = 1\n  requests = 300\n", 1)
	})
	const much = 100 << 10 // more than what warm-ups leave: a round is under way, and its last request not near
	for size := int64(0); size < much; time.Sleep(time.Millisecond) {
		found, _ := filepath.Glob(filepath.Join(u.dir, "crash", "*", "journal", "drafts.log"))
		for _, file := range found {
			if info, err := os.Stat(file); err == nil {
				size = info.Size()
			}
		}
	}
	_ = u.server.Process.Signal(syscall.SIGSTOP) // what is in flight does not come back
	time.Sleep(100 * time.Millisecond)
	for range 2 {
		if err := u.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	begin := time.Now()
	if status := u.ends(); status != exitInterrupted || time.Since(begin) > 20*time.Second {
		t.Errorf("status %d after %s\n%s", status, time.Since(begin), u.said.String())
	}
	run, err := u.open()
	if err != nil {
		t.Fatal(err)
	}
	cancelled := 0
	for _, q := range run.Requests {
		if q.Outcome == record.Cancelled {
			cancelled++
		}
	}
	if cancelled == 0 {
		t.Errorf("no row is cancelled, of %d", len(run.Requests))
	}
}

// A full disk ends the run with an error that names it. What was recorded by then is read,
// and once there is room the run goes on.
func TestFullDisk(t *testing.T) {
	ownProcesses(t)
	want := crashWork(t, crashReference(t))
	disk := t.TempDir()
	if err := syscall.Mount("none", disk, "tmpfs", 0, "size=260k"); err != nil {
		t.Skipf("a small disk can't be mounted here: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, 0) })
	u := underway(t, disk, nil)
	if status := u.ends(); status != exitFailed || !strings.Contains(u.said.String(), "no space left on device") {
		t.Fatalf("status %d\n%s", status, u.said.String())
	}
	run, err := u.open()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(crashed(run)); n == 0 {
		t.Error("nothing of the run can be read")
	}
	if err := syscall.Mount("none", disk, "tmpfs", syscall.MS_REMOUNT, "size=64m"); err != nil {
		t.Fatal(err)
	}
	if out, err := u.rung("run", u.spec, "--no-self-check", "--resume", run.Dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := u.checkEnded(want); err != nil {
		t.Error(err)
	}
}

// crashed are the requests of a run that count.
func crashed(r *resultstest.Recorded) []record.Request {
	var out []record.Request
	for _, q := range r.Requests {
		if q.Counted {
			out = append(out, q)
		}
	}
	return out
}

// A folder that can't be written ends the run before its first timed request.
func TestUnwritableFolder(t *testing.T) {
	c := &crash{t: t, dir: t.TempDir()}
	if err := c.serve(); err != nil {
		t.Fatal(err)
	}
	defer c.end()
	said, status := rungIn(t, c.dir, "run", c.spec, "--no-self-check", "--out", filepath.Join(c.spec, "below"))
	if status != exitFailed || !strings.Contains(said, "make the experiment's folder") || !strings.Contains(said, "not a directory") {
		t.Errorf("status %d\n%s", status, said)
	}
}

// A host that has no address is named, before anything is written.
func TestUnknownHost(t *testing.T) {
	dir := t.TempDir()
	spec := strings.Replace(crashSpec, "%s", "http://no-such-host.invalid:8000", 1)
	if err := os.WriteFile(filepath.Join(dir, "a.hcl"), []byte(spec), 0o644); err != nil {
		t.Fatal(err)
	}
	said, status := rungIn(t, dir, "run", "a.hcl")
	if status != exitFailed || !strings.Contains(said, "no-such-host.invalid") {
		t.Errorf("status %d\n%s", status, said)
	}
	if _, err := os.Stat(filepath.Join(dir, "results")); err == nil {
		t.Error("something was written")
	}
}

// A process that was suspended measured nothing in the meantime: the round is refused and
// sent again.
func TestSuspended(t *testing.T) {
	ownProcesses(t)
	u := underway(t, "", func(spec string) string { return strings.Replace(spec, "requests = 60", "requests = 600", 1) })
	time.Sleep(1500 * time.Millisecond) // it is in the long rounds by then
	_ = u.cmd.Process.Signal(syscall.SIGSTOP)
	time.Sleep(1500 * time.Millisecond)
	_ = u.cmd.Process.Signal(syscall.SIGCONT)
	if status := u.ends(); status != 0 {
		t.Fatalf("status %d\n%s", status, u.said.String())
	}
	run, err := u.open()
	if err != nil {
		t.Fatal(err)
	}
	refused := map[string]bool{}
	for _, q := range run.Requests {
		refused[q.RejectReason] = true
		if q.Counted && q.LatencyS() > 1.4 {
			t.Errorf("a request counts that waited for the client for %.1f s", q.LatencyS())
		}
	}
	for reason := range refused {
		if strings.Contains(reason, "rung itself stood still for 1.") {
			return
		}
	}
	t.Errorf("no round was refused: %v", refused)
}
