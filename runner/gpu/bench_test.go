//go:build cgo && linux

package gpu_test

import (
	"fmt"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"rung/runner/gpu"
	"rung/runner/gpu/gputest"
	"rung/sinks/record"
)

// processorTime is what this process took, or its children that have ended: the time in
// all, which is exact, and how much of it in the system, which is counted in clock ticks.
func processorTime(b *testing.B, who int) (all, system time.Duration) {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		b.Fatal(err)
	}
	system = time.Duration(u.Stime.Nano())
	return system + time.Duration(u.Utime.Nano()), system
}

// shares reports which share of a core a process took since this was called: in all and
// in the system.
func shares(b *testing.B, name string, who int) (report func(time.Duration) float64) {
	b.Helper()
	all, system := processorTime(b, who)
	return func(length time.Duration) float64 {
		allNow, systemNow := processorTime(b, who)
		share := 100 * (allNow - all).Seconds() / length.Seconds()
		b.ReportMetric(share, name+"-%-of-a-core")
		b.ReportMetric(100*(systemNow-system).Seconds()/length.Seconds(), name+"-system-%")
		return share
	}
}

// BenchmarkSampling reads eight devices every 10 ms for 10 s, in a process of its own as a
// run does: how late the readings are, and which share of a core both processes take,
// their start among it.
func BenchmarkSampling(b *testing.B) {
	const interval, length = 10 * time.Millisecond, 10 * time.Second
	state := gputest.NewState(b)
	var lines []string
	for i := range 8 {
		lines = append(lines, fmt.Sprintf(`device %d uuid GPU-%d name "Fake" total 85899345920 used 1000 reserved 500 util 50 power 250500 temp 60 sm 1980 mem 2619 energy 5500`, i, i))
	}
	state.Write(lines...)
	b.Setenv("FAKE_NVML_FIXED", "1")
	b.Setenv(asSampler, gputest.Compile(b))
	for b.Loop() {
		var late []float64
		missed := 0
		parent, child := shares(b, "parent", syscall.RUSAGE_SELF), shares(b, "child", syscall.RUSAGE_CHILDREN)
		c, err := gpu.OpenChild([]string{os.Args[0]}, time.Second)
		if err != nil {
			b.Fatal(err)
		}
		err = c.Start(interval, func(s []record.Sample, left int) {
			late = append(late, s[0].LateS)
			missed += left
			if len(s) != 8 {
				b.Errorf("%d samples", len(s))
			}
		}, func(err error) { b.Error(err) })
		if err != nil {
			b.Fatal(err)
		}
		time.Sleep(length)
		c.Stop()
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
		if n := int(length / interval); len(late)+missed < n {
			b.Errorf("%d readings and %d missed, want %d", len(late), missed, n)
		}
		slices.Sort(late)
		b.ReportMetric(1000*record.Quantile(late, 0.5), "P50-late-ms")
		b.ReportMetric(1000*record.Quantile(late, 0.99), "P99-late-ms")
		b.ReportMetric(float64(missed), "missed")
		b.ReportMetric(parent(length)+child(length), "%-of-a-core")
	}
}
