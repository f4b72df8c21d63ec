//go:build unix

package self

import (
	"syscall"
	"time"
)

func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Limit is how many descriptors this process may have open; nil where there is no
// limit.
func Limit() *int64 {
	var r syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r) != nil || uint64(r.Cur) > 1<<62 { //nolint:unconvert // it is signed on some systems
		return nil
	}
	n := int64(r.Cur) //nolint:gosec // checked above
	return &n
}
