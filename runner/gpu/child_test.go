//go:build cgo && linux

package gpu_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rung/runner/gpu"
	"rung/runner/gpu/gputest"
	"rung/sinks/record"
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

// driverFails are lines of the fake's state by which it fails, and words of the reason.
func driverFails() map[string]struct{ line, words string } {
	return map[string]struct{ line, words string }{
		"a crash":       {"crash temp", "crashing at temp"},
		"a hang":        {"hang temp", "did not answer within 500ms"},
		"a lost device": {"fail temp 15", "GPU GPU-a: "},
	}
}

// Whatever the driver does, the samples end with a reason, and nothing else happens.
func TestChildEnds(t *testing.T) {
	for name, tt := range driverFails() {
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

// dueOf is when a reading should have been made.
func dueOf(s []record.Sample) time.Time {
	return s[0].Time.Add(-time.Duration(s[0].LateS * float64(time.Second)))
}

// The schedule has no drift: each reading is due at a multiple of the interval, and what
// was left out is told. What is forced comes at once, behind all that was read before.
func TestChildKeepsTheSchedule(t *testing.T) {
	const interval = 10 * time.Millisecond
	c, err := child(t, gputest.NewState(t), cardA, cardB)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]record.Sample
	var n atomic.Int64
	missed, enough := 0, make(chan struct{})
	err = c.Start(interval, func(samples []record.Sample, left int) {
		all, missed = append(all, samples), missed+left
		if n.Add(1) == 30 {
			close(enough)
		}
	}, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	<-enough
	forced, err := c.Sample()
	if err != nil {
		t.Fatal(err)
	}
	before := int(n.Load())
	c.Stop()
	for _, s := range all[before:] {
		if s[0].Time.Before(forced[0].Time) {
			t.Errorf("a reading of %s was taken after one of %s, which was asked for", s[0].Time, forced[0].Time)
		}
	}
	passed := -1 // what brings the clocks of two processes together is not exact to the microsecond
	for i, s := range all {
		if len(s) != 2 || s[1].UUID != "GPU-b" || s[0].Forced || !s[0].Time.Equal(s[1].Time) || s[0].MemUsedBytes == nil {
			t.Fatalf("%+v", s)
		}
		offset := dueOf(s).Sub(dueOf(all[0]))
		due := int(offset.Round(interval) / interval)
		if d := offset - time.Duration(due)*interval; d.Abs() > interval/4 || due <= passed {
			t.Errorf("reading %d was due %s after the first", i, offset)
		}
		passed = due
	}
	if passed+1 > len(all)+missed {
		t.Errorf("%d readings and %d left out by the %dth time of the schedule", len(all), missed, passed+1)
	}
	ended := len(all)
	if _, err := c.Sample(); err != nil || len(all) != ended {
		t.Errorf("%d readings after the end, %v", len(all)-ended, err)
	}
}

// A reading of a slow schedule is not held back.
func TestChildSlowSchedule(t *testing.T) {
	c, err := child(t, gputest.NewState(t), cardA)
	if err != nil {
		t.Fatal(err)
	}
	taken := make(chan time.Time, 1)
	if err := c.Start(time.Hour, func(s []record.Sample, _ int) { taken <- s[0].Time }, func(err error) { t.Error(err) }); err != nil {
		t.Fatal(err)
	}
	<-taken
}

// A driver that fails between two readings of a schedule ends it with a reason.
func TestChildEndsInTheSchedule(t *testing.T) {
	for name, tt := range driverFails() {
		t.Run(name, func(t *testing.T) {
			state := gputest.NewState(t)
			c, err := child(t, state, cardA)
			if err != nil {
				t.Fatal(err)
			}
			state.Write(cardA, tt.line)
			ended := make(chan error, 2)
			if err := c.Start(10*time.Millisecond, func([]record.Sample, int) {}, func(err error) { ended <- err }); err != nil {
				ended <- err // it was quicker
			}
			if err := <-ended; !strings.Contains(err.Error(), tt.words) {
				t.Errorf("%v", err)
			}
			c.Collect()
			c.Stop()
			if _, err := c.Sample(); err == nil || !strings.Contains(err.Error(), tt.words) {
				t.Errorf("afterwards %v", err)
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
