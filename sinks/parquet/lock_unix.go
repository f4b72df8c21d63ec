//go:build unix

package parquet

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// takeLock holds a file until the process ends or unlock is called. It is errBusy where
// another process holds it.
func takeLock(file string) (unlock func() error, err error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, errors.Join(errBusy, f.Close())
	case err != nil && !errors.Is(err, syscall.ENOTSUP) && !errors.Is(err, syscall.ENOLCK): // some file systems have no locks
		return nil, errors.Join(fmt.Errorf("lock %s: %w", file, err), f.Close())
	}
	return f.Close, nil
}
