//go:build cgo && linux

package gpu

import (
	"encoding/binary"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// monotonic is now on the clock that all processes of a machine share, in nanoseconds.
func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // it fails on no Linux
	return t.Nano()
}

// ticker is the system's own timer: the runtime's wake up to a millisecond late, and wake
// a second thread each time.
type ticker struct {
	file *os.File
	conn syscall.RawConn
}

func newTicker() (*ticker, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("timerfd_create", err)
	}
	t := &ticker{file: os.NewFile(uintptr(fd), "timerfd")}
	t.conn, err = t.file.SyscallConn()
	return t, err
}

// set lets it tick at a time of the clock monotonic and each interval from there on; never,
// where that is 0. What had ticked before is forgotten.
func (t *ticker) set(first int64, interval time.Duration) error {
	spec := unix.ItimerSpec{Interval: unix.NsecToTimespec(int64(interval))}
	if interval > 0 {
		spec.Value = unix.NsecToTimespec(first)
	}
	var failed error
	err := t.conn.Control(func(fd uintptr) {
		failed = os.NewSyscallError("timerfd_settime", unix.TimerfdSettime(int(fd), unix.TFD_TIMER_ABSTIME, &spec, nil))
	})
	if err != nil {
		return err
	}
	return failed
}

// each calls take for every tick, with how many there were since the one before, until the
// ticker is closed. The turn is taken before the ticks are counted, so that a schedule
// which was set meanwhile counts none of the one before.
func (t *ticker) each(turn sync.Locker, take func(passed int64)) {
	var passed [8]byte
	_ = t.conn.Read(func(fd uintptr) bool { // it ends where the file is closed
		turn.Lock()
		defer turn.Unlock()
		if _, err := unix.Read(int(fd), passed[:]); err == nil {
			take(int64(binary.NativeEndian.Uint64(passed[:]))) //nolint:gosec // a count
		}
		return false // wait for the next
	})
}

func (t *ticker) close() { _ = t.file.Close() }
