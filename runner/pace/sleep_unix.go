//go:build unix

package pace

import (
	"syscall"
	"time"
)

// Fine is the span before a point in time for which the runtime's timers are too
// coarse: they wake up to a millisecond late. For so long Sleep should be used.
const Fine = 2 * time.Millisecond

// Sleep waits for at most Fine, by the system's own timer, in the thread that calls
// it. Real time passes, also where a test has a clock of its own.
func Sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	t := syscall.NsecToTimespec(int64(min(d, Fine)))
	_ = syscall.Nanosleep(&t, nil) // one that was interrupted is asked for again
}
