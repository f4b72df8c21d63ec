//go:build !cgo || !linux

package gpu

import "rung/sinks/record"

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
