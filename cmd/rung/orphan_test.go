//go:build linux

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A rung that is killed leaves the server behind that it had started. The run that goes on
// ends that one, starts its own, and leaves nothing.
func TestResumeEndsTheServerLeftBehind(t *testing.T) {
	ownProcesses(t)
	dir, port := t.TempDir(), freePort(t)
	spec := strings.Replace(fmt.Sprintf(crashSpec, fmt.Sprintf("http://127.0.0.1:%s", port)), "simulator {", fmt.Sprintf(`server {
  command = ["sh", "-c", "rung sim --listen 127.0.0.1:%s --model m >/dev/null 2>&1 & wait"]
}
simulator {`, port), 1)
	path := filepath.Join(dir, "a.hcl")
	if err := os.WriteFile(path, []byte(spec), 0o644); err != nil {
		t.Fatal(err)
	}
	first := exec.CommandContext(t.Context(), "rung", "run", path, "--no-self-check", "--out", dir)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if found, _ := filepath.Glob(filepath.Join(dir, "crash", "*", "requests", "0003-*.parquet")); len(found) > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("no first rung in time")
		}
	}
	_ = first.Process.Kill()
	_ = first.Wait()
	listens := func() bool {
		c, err := net.DialTimeout("tcp", "127.0.0.1:"+port, time.Second) //nolint:noctx // only to see
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}
	if !listens() {
		t.Fatal("the server ended with the rung that was killed: there is nothing to see")
	}
	said, status := rungIn(t, dir, "run", path, "--no-self-check", "--resume", filepath.Join(dir, "crash"))
	if status != 0 || !strings.Contains(said, "ending the server that the run had left behind") {
		t.Errorf("status %d\n%s", status, said)
	}
	if listens() {
		t.Error("a server is left")
	}
}
