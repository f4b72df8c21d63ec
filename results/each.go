package results

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// each does the same for 0 to n-1, on all cores. What is done for one must touch nothing
// that is another's.
func each(n int, do func(i int)) {
	var wg sync.WaitGroup
	var next atomic.Int64
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}
