// Package gputest gives tests a GPU that is none: a fake libnvidia-ml.so.1, built
// by the C compiler at hand, whose cards follow a text file.
//
// The loader keeps a library for as long as the process lives and go-nvml keeps
// the addresses it found in the first one, so that a process can use one variant
// only: a test of another runs itself again in a process of its own (Isolate).
package gputest

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Variable names the environment variable under which the library finds its state.
const Variable = "FAKE_NVML_STATE"

// Compile builds the library and gives its path; it is named libnvidia-ml.so.1 and
// lies in a folder of its own, so that LD_LIBRARY_PATH can name that. flags are
// the compiler's, such as -DNO_MEMORY_V2. The test is skipped where there is no
// compiler.
func Compile(t testing.TB, flags ...string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler: ", err)
	}
	_, here, _, _ := runtime.Caller(0)
	source := filepath.Join(filepath.Dir(here), "..", "testdata", "fakenvml", "fakenvml.c")
	path := filepath.Join(t.TempDir(), "libnvidia-ml.so.1")
	args := append([]string{"-shared", "-fPIC", "-O1", "-Wall", "-o", path, source}, flags...)
	if out, err := exec.CommandContext(t.Context(), cc, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cc, err, out)
	}
	return path
}

// State is the file that the library reads on each call.
type State struct {
	t    testing.TB
	Path string
}

// NewState makes an empty state, which is a driver that knows no device, and
// points the library at it for the length of the test.
func NewState(t testing.TB) *State {
	t.Helper()
	s := &State{t: t, Path: filepath.Join(t.TempDir(), "state")}
	s.Write()
	t.Setenv(Variable, s.Path)
	return s
}

// Write replaces the state by the lines at once; the format stands in fakenvml.c.
func (s *State) Write(lines ...string) {
	s.t.Helper()
	temporary := s.Path + ".new"
	if err := os.WriteFile(temporary, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Rename(temporary, s.Path); err != nil {
		s.t.Fatal(err)
	}
}

// isolated tells the child process which test it is to run itself.
const isolated = "RUNG_ISOLATED_TEST"

// Isolate runs the test once more in a process of its own. It is true there; where
// it is false the test has been run and its result taken over, so return.
func Isolate(t *testing.T) bool {
	t.Helper()
	if os.Getenv(isolated) == t.Name() { //nolint:forbidigo // how the child knows
		return true
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), exe, "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=60s")
	c.Env = append(os.Environ(), isolated+"="+t.Name())
	out, err := c.CombinedOutput()
	switch {
	case err != nil:
		t.Errorf("in a process of its own: %v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP: "+t.Name()):
		t.Skipf("%s", out)
	case !strings.Contains(string(out), "--- PASS: "+t.Name()):
		t.Errorf("it did not run:\n%s", out)
	}
	return false
}
