//go:build !unix

package pace

import "time"

// Fine is the span before a point in time for which the runtime's timers are too
// coarse.
const Fine = 2 * time.Millisecond

// Sleep waits for at most Fine.
func Sleep(d time.Duration) { time.Sleep(min(d, Fine)) }
