//go:build cgo && linux

package gpu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"rung/sinks/record"
)

// NVML reads cards through NVIDIA's library. A function that the installed
// driver lacks would end the process, so each is looked up before its first use.
type NVML struct {
	lib     nvml.Interface
	has     map[string]bool
	devices []device
}

// device is one card, with the readings that it supports.
type device struct {
	handle  nvml.Device
	info    record.Device
	reading []reading
	memory  string // "v2", "v1" or "": which call gives the memory
}

// reading fills some columns of a sample by one function of the library.
type reading struct {
	symbol  string
	columns []string
	read    func(nvml.Device, *record.Sample) nvml.Return
}

// OpenNVML loads the library and finds the devices. Its error names the other
// sources; it wraps ErrUnavailable where there is no library or no driver.
func OpenNVML(o Options) (*NVML, error) {
	var opts []nvml.LibraryOption
	if o.Library != "" {
		opts = append(opts, nvml.WithLibraryPath(o.Library))
	}
	n := &NVML{lib: nvml.New(opts...), has: map[string]bool{}}
	switch ret := n.lib.Init(); ret {
	case nvml.SUCCESS:
	case nvml.ERROR_LIBRARY_NOT_FOUND:
		return nil, unavailable("the library libnvidia-ml.so.1 was not found (is the NVIDIA driver installed?)")
	case nvml.ERROR_DRIVER_NOT_LOADED:
		return nil, unavailable("the NVIDIA driver is not loaded")
	default:
		return nil, unavailable("its initialisation failed: " + n.text(ret))
	}
	if err := n.find(o.Devices); err != nil {
		_ = n.Close() // the first error says more
		return nil, err
	}
	return n, nil
}

func (n *NVML) find(wanted []string) error {
	if err := n.require("nvmlDeviceGetUUID", "nvmlDeviceGetName"); err != nil {
		return err
	}
	if !n.supports("nvmlDeviceGetCount_v2") && !n.supports("nvmlDeviceGetCount") {
		return unavailable("the library has no nvmlDeviceGetCount")
	}
	count, ret := n.lib.DeviceGetCount()
	if ret != nvml.SUCCESS {
		return unavailable("the devices can't be counted: " + n.text(ret))
	}
	var found []record.Device
	for i := range count {
		h, ret := n.lib.DeviceGetHandleByIndex(i)
		if ret != nvml.SUCCESS {
			return unavailable(fmt.Sprintf("device %d can't be opened: %s", i, n.text(ret)))
		}
		d := n.open(i, h)
		found = append(found, d.info)
		if selects(wanted, d.info) {
			n.devices = append(n.devices, d)
		}
	}
	if lost := missing(wanted, found); len(lost) > 0 {
		return fmt.Errorf("gpu.devices: no device %s on this machine, which has %d", strings.Join(lost, ", "), count)
	}
	if len(n.devices) == 0 {
		return unavailable("the driver knows no device")
	}
	return nil
}

// open learns a device's name and limits and which of the readings it supports.
func (n *NVML) open(index int, h nvml.Device) device {
	d := device{handle: h, info: record.Device{Index: index}}
	d.info.UUID, _ = h.GetUUID()
	d.info.Name, _ = h.GetName()
	if n.supports("nvmlSystemGetDriverVersion") {
		d.info.Driver, _ = n.lib.SystemGetDriverVersion()
	}
	if n.supports("nvmlDeviceGetPowerManagementLimit") {
		if mw, ret := h.GetPowerManagementLimit(); ret == nvml.SUCCESS {
			w := float64(mw) / 1000
			d.info.PowerLimitW = &w
		}
	}
	if n.supports("nvmlDeviceGetMigMode") {
		if mode, _, ret := h.GetMigMode(); ret == nvml.SUCCESS {
			on := mode == nvml.DEVICE_MIG_ENABLE
			d.info.MIG = &on
		}
	}
	if n.supports("nvmlDeviceGetEccMode") {
		if mode, _, ret := h.GetEccMode(); ret == nvml.SUCCESS {
			on := mode == nvml.FEATURE_ENABLED
			d.info.ECC = &on
		}
	}
	n.probe(&d)
	return d
}

// probe takes each reading once and keeps those that work.
func (n *NVML) probe(d *device) {
	var first record.Sample
	for _, r := range append(memoryReadings(), readings()...) {
		memory := r.columns[0] == "mem_total_bytes"
		switch {
		case memory && d.memory != "":
			continue // the newer call answered
		case n.supports(r.symbol) && r.read(d.handle, &first) == nvml.SUCCESS:
			d.reading = append(d.reading, r)
			if memory {
				d.memory = first.MemCall
			}
		case !memory:
			d.info.Unsupported = append(d.info.Unsupported, r.columns...)
		}
	}
	d.info.MemTotalBytes = first.MemTotalBytes
	if d.memory == "" {
		d.info.Unsupported = append(d.info.Unsupported, "mem_total_bytes", "mem_used_bytes", "mem_free_bytes", "mem_reserved_bytes")
	} else if first.MemReservedBytes == nil {
		d.info.Unsupported = append(d.info.Unsupported, "mem_reserved_bytes")
	}
	slices.Sort(d.info.Unsupported)
}

// supports looks a function up, once.
func (n *NVML) supports(symbol string) bool {
	ok, seen := n.has[symbol]
	if !seen {
		ok = n.lib.Extensions().LookupSymbol(symbol) == nil
		n.has[symbol] = ok
	}
	return ok
}

func (n *NVML) require(symbols ...string) error {
	for _, s := range symbols {
		if !n.supports(s) {
			return unavailable("the library has no " + s)
		}
	}
	return nil
}

// text names a return code without calling a function that may not be there.
func (n *NVML) text(ret nvml.Return) string {
	if n.supports("nvmlErrorString") {
		return n.lib.ErrorString(ret)
	}
	return fmt.Sprintf("NVML code %d", int32(ret))
}

// Source names where the samples come from.
func (n *NVML) Source() string { return "nvml" }

// Devices lists the cards that are sampled.
func (n *NVML) Devices() []record.Device {
	out := make([]record.Device, len(n.devices))
	for i, d := range n.devices {
		out[i] = d.info
	}
	return out
}

// Sample reads every device. What a device does not say this time stays nil; a
// device that is lost is an error.
func (n *NVML) Sample() ([]record.Sample, error) {
	out := make([]record.Sample, 0, len(n.devices))
	for _, d := range n.devices {
		s := record.Sample{Device: d.info.Index, UUID: d.info.UUID, Name: d.info.Name}
		for _, r := range d.reading {
			if ret := r.read(d.handle, &s); ret == nvml.ERROR_GPU_IS_LOST || ret == nvml.ERROR_UNINITIALIZED {
				return nil, fmt.Errorf("GPU %s: %s", d.info.UUID, n.text(ret))
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// Close lets go of the library.
func (n *NVML) Close() error {
	if !n.supports("nvmlShutdown") {
		return nil
	}
	if ret := n.lib.Shutdown(); ret != nvml.SUCCESS {
		return fmt.Errorf("NVML shutdown: NVML code %d", int32(ret))
	}
	return nil
}
