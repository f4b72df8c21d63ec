package smi_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"rung/runner/gpu/smi"
	"rung/sinks/record"
)

// tool is a program in nvidia-smi's place. loop is what it does where it is to go on.
func tool(t *testing.T, once, loop string) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nvidia-smi")
	script := "#!/bin/sh\ncase \"$*\" in *-lms*) " + loop + ";; *) " + once + ";; esac\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	return []string{path}
}

const (
	says = `echo 'timestamp, index, uuid, memory.used [MiB], power.draw [W]'`
	rowA = `echo '2026/11/30 13:05:01.123, 0, GPU-a, 100 MiB, [N/A]'`
	rowB = `echo '2026/11/30 13:05:01.124, 1, GPU-b, 200 MiB, 20 W'`
)

func open(t *testing.T, c smi.Config) *smi.Sampler {
	t.Helper()
	c.Interval = 10 * time.Millisecond
	s, err := smi.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// next waits for a reading.
func next(t *testing.T, s *smi.Sampler) ([]record.Sample, error) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if rows, err := s.Sample(); len(rows) > 0 || err != nil {
			return rows, err
		}
	}
	t.Fatal("no reading")
	return nil, nil
}

func TestSampler(t *testing.T) {
	once := says + "; " + rowA + "; " + rowB
	s := open(t, smi.Config{Command: tool(t, once, says+"; while :; do "+rowA+"; "+rowB+"; sleep 0.02; done")})
	for range 3 {
		rows, err := next(t, s)
		if err != nil || len(rows) != 2 || *rows[0].MemUsedBytes != 100<<20 || rows[1].Device != 1 || rows[0].MemCall != "nvidia-smi" {
			t.Fatalf("%+v, %v", rows, err)
		}
	}
	d := s.Devices()
	if len(d) != 2 || strings.Join(d[0].Unsupported, ",") != "power_w" || len(d[1].Unsupported) != 0 || s.Source() != "nvidia-smi" {
		t.Errorf("%+v", d)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A set of which one card is missing is not handed on, and nothing new is no sample.
func TestSamplerWaitsForASet(t *testing.T) {
	s := open(t, smi.Config{Command: tool(t, says+"; "+rowA+"; "+rowB, says+"; "+rowA+"; exec sleep 60")})
	time.Sleep(100 * time.Millisecond)
	if rows, err := s.Sample(); len(rows) > 0 || err != nil {
		t.Errorf("%+v, %v", rows, err)
	}
}

func TestSamplerChoosesCards(t *testing.T) {
	command := tool(t, says+"; "+rowA+"; "+rowB, says+"; while :; do "+rowA+"; "+rowB+"; sleep 0.02; done")
	s := open(t, smi.Config{Command: command, Devices: []string{"GPU-b"}})
	if rows, err := next(t, s); err != nil || len(rows) != 1 || rows[0].UUID != "GPU-b" {
		t.Errorf("%+v, %v", rows, err)
	}
	if _, err := smi.Open(t.Context(), smi.Config{Command: command, Devices: []string{"GPU-b", "7"}, Interval: time.Second}); err == nil || !strings.Contains(err.Error(), "no device 7; it has 0 GPU-a, 1 GPU-b") {
		t.Error(err)
	}
}

// A field that the installed version has not is left out, and its column named.
func TestSamplerLeavesFieldsOut(t *testing.T) {
	refuse := `case "$*" in *memory.reserved*) echo 'Field "memory.reserved" is not a valid field to query.'; exit 2;; *throttle*) echo 'Field "clocks_throttle_reasons.active" is not a valid field to query.'; exit 2;; esac; `
	s := open(t, smi.Config{Command: tool(t, refuse+says+"; "+rowA, refuse+says+"; while :; do "+rowA+"; sleep 0.02; done")})
	if _, err := next(t, s); err != nil {
		t.Error(err)
	}
	if got := strings.Join(s.Devices()[0].Unsupported, ","); got != "mem_reserved_bytes,power_w" {
		t.Error(got)
	}
}

func TestSamplerUnavailable(t *testing.T) {
	for name, tt := range map[string]struct {
		command []string
		words   string
	}{
		"missing":   {[]string{"no-such-nvidia-smi"}, `"no-such-nvidia-smi" was not found`},
		"no driver": {tool(t, "echo 'NVIDIA-SMI has failed because it could not communicate with the driver.'; exit 9", "exit 9"), "exit status 9: NVIDIA-SMI has failed"},
		"foreign":   {tool(t, `printf 'nvidia-smi: \343\203 nicht gefunden\n' >&2; exit 127`, "exit 127"), "exit status 127: nvidia-smi: \uFFFD nicht gefunden"},
		"lost":      {tool(t, "echo 'Unable to determine the device handle for GPU 0000:01:00.0: Unknown Error'", "exit 1"), "Unable to determine"},
		"nothing":   {tool(t, "exit 0", "exit 0"), "no sample in it"},
	} {
		if _, err := smi.Open(t.Context(), smi.Config{Command: tt.command, Interval: time.Second}); err == nil || !strings.Contains(err.Error(), tt.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSamplerEnds(t *testing.T) {
	for name, tt := range map[string]struct{ loop, words string }{
		"a lost card": {rowA + "; echo 'Unable to determine the device handle for GPU 0000:01:00.0: Unknown Error'; exec sleep 60", "Unable to determine"},
		"an exit":     {rowA + `; printf '\343\343 weg\n'; exit 127`, "exit status 127: \uFFFD weg"},
		"silence":     {rowA + "; exit 0", "ended with status 0"},
	} {
		s := open(t, smi.Config{Command: tool(t, says+"; "+rowA, says+"; "+tt.loop)})
		if _, err := next(t, s); err != nil {
			t.Fatal(name, err)
		}
		if _, err := next(t, s); err == nil || !strings.Contains(err.Error(), tt.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What the program started ends with it.
func TestSamplerEndsItsGroup(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	s := open(t, smi.Config{Command: tool(t, says+"; "+rowA, "sleep 60 & echo $! >"+pid+"; "+says+"; "+rowA+"; wait")})
	if _, err := next(t, s); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	var n int
	fmt.Sscan(string(b), &n)
	for end := time.Now().Add(5 * time.Second); n > 0 && syscall.Kill(n, 0) == nil; time.Sleep(10 * time.Millisecond) {
		if stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n)); strings.Contains(string(stat), ") Z ") {
			return // it ended, and nobody has asked for its status
		}
		if time.Now().After(end) {
			t.Fatalf("process %d lives on", n)
		}
	}
}
