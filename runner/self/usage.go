package self

import (
	"os"
	"runtime"
	"runtime/metrics"
	"time"
)

// Usage is what this process has taken, and holds, at one moment.
type Usage struct {
	CPU         time.Duration // of all its threads, user and system, since it began
	Cores       int           // that it may use at once
	GCPauses    time.Duration // in which the collector held all of it, since it began
	Goroutines  int
	MemoryBytes int64  // that the runtime has from the system
	Descriptors *int   // open; nil where the system does not say
	Limit       *int64 // of descriptors; nil where there is none
}

// Now reads the process.
func Now() Usage {
	const pauses, memory, released = "/sched/pauses/total/gc:seconds", "/memory/classes/total:bytes", "/memory/classes/heap/released:bytes"
	s := []metrics.Sample{{Name: pauses}, {Name: memory}, {Name: released}}
	metrics.Read(s)
	u := Usage{CPU: cpu(), Cores: runtime.GOMAXPROCS(0), Goroutines: runtime.NumGoroutine(), Descriptors: descriptors(), Limit: Limit()}
	if h := s[0].Value; h.Kind() == metrics.KindFloat64Histogram {
		u.GCPauses = total(h.Float64Histogram())
	}
	if s[1].Value.Kind() == metrics.KindUint64 && s[2].Value.Kind() == metrics.KindUint64 {
		u.MemoryBytes = int64(s[1].Value.Uint64() - s[2].Value.Uint64()) //nolint:gosec // far below the limit of an int64
	}
	return u
}

// total sums a histogram of pauses by the middle of each bucket.
func total(h *metrics.Float64Histogram) time.Duration {
	sum := 0.0
	for i, n := range h.Counts {
		low, high := max(0, h.Buckets[i]), h.Buckets[i+1]
		if n == 0 {
			continue
		}
		if high > 1e6 { // the last bucket has no end
			high = low
		}
		sum += float64(n) * (low + high) / 2
	}
	return time.Duration(sum * float64(time.Second))
}

// CPUShare is the share of the cores that the process may use which it used between
// two readings so far apart: 1 is all of them.
func CPUShare(from, to Usage, apart time.Duration) float64 {
	if apart <= 0 || to.Cores <= 0 {
		return 0
	}
	return (to.CPU - from.CPU).Seconds() / apart.Seconds() / float64(to.Cores)
}

// descriptors counts this process's open files, where the system shows them.
func descriptors() *int {
	d, err := os.Open("/proc/self/fd")
	if err != nil {
		return nil
	}
	defer d.Close() //nolint:errcheck // it was only read
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil
	}
	n := len(names) - 1 // without the one that lists them
	return &n
}
