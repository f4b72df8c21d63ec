//go:build cgo && linux

package gpu_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"rung/runner/gpu"
	"rung/runner/gpu/gputest"
)

// asSampler makes this binary the process that reads NVML, from the library named.
const asSampler = "RUNG_TEST_SAMPLER"

const patience = 500 * time.Millisecond

func TestMain(m *testing.M) {
	if library := os.Getenv(asSampler); library != "" {
		if err := gpu.Serve(os.Stdin, os.Stdout, gpu.Options{Library: library}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// child opens the fake library in a process of its own.
func child(t *testing.T, state *gputest.State, lines ...string) (*gpu.Child, error) {
	t.Helper()
	state.Write(lines...)
	t.Setenv(asSampler, gputest.Compile(t))
	c, err := gpu.OpenChild([]string{os.Args[0]}, patience)
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

func TestChildReads(t *testing.T) {
	state := gputest.NewState(t)
	c, err := child(t, state, cardA, cardB)
	if err != nil {
		t.Fatal(err)
	}
	if d := c.Devices(); len(d) != 2 || d[0].UUID != "GPU-a" || d[1].Name != "Fake B" || c.Source() != "nvml" {
		t.Errorf("%+v", d)
	}
	for used := int64(1000); used < 1005; used++ {
		state.Write(strings.Replace(cardA, "used 1000", fmt.Sprintf("used %d", used), 1), cardB)
		s, err := c.Sample()
		if err != nil || len(s) != 2 || *s[0].MemUsedBytes != used || len(s[0].Processes) != 2 || s[1].SMClockMHz == nil {
			t.Fatalf("%+v, %v", s, err)
		}
	}
}

// Whatever the driver does, the samples end with a reason, and nothing else happens.
func TestChildEnds(t *testing.T) {
	for name, tt := range map[string]struct{ line, words string }{
		"a crash":       {"crash temp", "crashing at temp"},
		"a hang":        {"hang temp", "did not answer within 500ms"},
		"a lost device": {"fail temp 15", "GPU GPU-a: "},
	} {
		t.Run(name, func(t *testing.T) {
			state := gputest.NewState(t)
			c, err := child(t, state, cardA)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Sample(); err != nil {
				t.Fatal(err)
			}
			state.Write(cardA, tt.line)
			if _, err := c.Sample(); err == nil || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestChildUnavailable(t *testing.T) {
	t.Setenv(asSampler, "/no/such/library.so")
	if _, err := gpu.OpenChild([]string{os.Args[0]}, patience); !errors.Is(err, gpu.ErrUnavailable) || !strings.Contains(err.Error(), "was not found") {
		t.Errorf("%v", err)
	}
	if _, err := gpu.OpenChild([]string{"/no/such/program"}, patience); !errors.Is(err, gpu.ErrUnavailable) {
		t.Errorf("%v", err)
	}
	if _, err := gpu.OpenChild([]string{"/bin/sh", "-c", "echo the driver is broken >&2; exit 127"}, patience); !errors.Is(err, gpu.ErrUnavailable) || !strings.Contains(err.Error(), "exit status 127: the driver is broken") {
		t.Errorf("%v", err)
	}
}
