//go:build !cgo || !linux

package gpu

import (
	"sync"
	"time"

	"rung/sinks/record"
)

// NVML stands where the binary has none.
type NVML struct{}

// OpenNVML always fails: this binary was built without cgo, or not for Linux.
func OpenNVML(Options) (*NVML, error) {
	return nil, unavailable("this rung was built without cgo, or not for Linux")
}

// Source names where the samples come from.
func (*NVML) Source() string { return "nvml" }

// Devices lists none.
func (*NVML) Devices() []record.Device { return nil }

// Sample reads none.
func (*NVML) Sample() ([]record.Sample, error) { return nil, ErrUnavailable }

// Close does nothing.
func (*NVML) Close() error { return nil }

// monotonic is no time: no child reads, where there is no NVML.
func monotonic() int64 { return 0 }

// ticker stands where nothing is read.
type ticker struct{}

func newTicker() (*ticker, error) { return nil, ErrUnavailable }

func (*ticker) set(int64, time.Duration) error { return ErrUnavailable }

func (*ticker) each(sync.Locker, func(int64)) {}

func (*ticker) close() {}
