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
	"rung/runner/pace"
	"rung/sinks/record"
)

// processorTime is what this process and its children that have ended took.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}

// BenchmarkSampling reads eight devices every 10 ms for 10 s, in a process of its own as a
// run does: how late the readings are, and which share of a core both processes take.
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
		missed, before := 0, processorTime(b)
		c, err := gpu.OpenChild([]string{os.Args[0]}, time.Second)
		if err != nil {
			b.Fatal(err)
		}
		quit := make(chan struct{})
		time.AfterFunc(length, func() { close(quit) })
		pace.Every(interval, quit, func(due time.Time) bool {
			late = append(late, time.Since(due).Seconds())
			s, err := c.Sample()
			if err != nil || len(s) != 8 {
				b.Errorf("%d samples, %v", len(s), err)
			}
			return err == nil
		}, func(n int) { missed += n })
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
		slices.Sort(late)
		b.ReportMetric(1000*record.Quantile(late, 0.5), "P50-late-ms")
		b.ReportMetric(1000*record.Quantile(late, 0.99), "P99-late-ms")
		b.ReportMetric(float64(missed), "missed")
		b.ReportMetric(100*(processorTime(b)-before).Seconds()/length.Seconds(), "%-of-a-core")
	}
}
