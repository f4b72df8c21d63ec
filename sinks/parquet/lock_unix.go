//go:build unix

package parquet

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// A process that was killed may take a moment to let go of what it held.
const (
	lockTries = 20
	lockPause = 50 * time.Millisecond
)

// takeLock holds a file until the process ends or unlock is called. It is ErrBusy where
// another process holds it.
func takeLock(file string) (unlock func() error, err error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	for range lockTries {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		time.Sleep(lockPause)
	}
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, errors.Join(ErrBusy, f.Close())
	case err != nil && !errors.Is(err, syscall.ENOTSUP) && !errors.Is(err, syscall.ENOLCK): // some file systems have no locks
		return nil, errors.Join(fmt.Errorf("lock %s: %w", file, err), f.Close())
	}
	return f.Close, nil
}
