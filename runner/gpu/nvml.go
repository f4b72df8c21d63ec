//go:build cgo && linux

package gpu

import (
	"fmt"
	"slices"
	"strings"

	"github.com/NVIDIA/go-nvml/pkg/dl"
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
}

// reading fills some columns of a sample by one function of the library.
type reading struct {
	symbol  string
	columns []string
	read    func(nvml.Device, *cells) nvml.Return
}

// OpenNVML loads the library and finds the devices. Its error names the other
// sources; it wraps ErrUnavailable where there is no library or no driver.
func OpenNVML(o Options) (*NVML, error) {
	var opts []nvml.LibraryOption
	if o.Library != "" {
		opts = append(opts, nvml.WithLibraryPath(o.Library))
	}
	if err := checkLibrary(o.Library); err != nil {
		return nil, err
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

// checkLibrary looks up what is called before anything else can be: go-nvml can
// look a symbol up only after its Init, and that calls one. Its error is nil
// where there is no library, which Init tells by itself.
func checkLibrary(path string) error {
	if path == "" {
		path = "libnvidia-ml.so.1"
	}
	lib := dl.New(path, dl.RTLD_LAZY|dl.RTLD_LOCAL)
	if lib.Open() != nil {
		return nil
	}
	defer lib.Close() //nolint:errcheck // it is opened again at once
	if lib.Lookup("nvmlInit_v2") != nil && lib.Lookup("nvmlInit") != nil {
		return unavailable("the library has no nvmlInit: it is not NVIDIA's")
	}
	return nil
}

func (n *NVML) find(wanted []string) error {
	if err := n.require("nvmlDeviceGetUUID", "nvmlDeviceGetName"); err != nil {
		return err
	}
	for _, symbol := range []string{"nvmlDeviceGetCount", "nvmlDeviceGetHandleByIndex"} {
		if !n.supports(symbol+"_v2") && !n.supports(symbol) {
			return unavailable("the library has no " + symbol)
		}
	}
	count, ret := n.lib.DeviceGetCount()
	if ret != nvml.SUCCESS {
		return unavailable("the devices can't be counted: " + n.text(ret))
	}
	var found []record.Device
	var broken []string // a card that can't be opened must not hide the others
	for i := range count {
		h, ret := n.lib.DeviceGetHandleByIndex(i)
		if ret != nvml.SUCCESS {
			broken = append(broken, fmt.Sprintf("device %d can't be opened: %s", i, n.text(ret)))
			continue
		}
		d := n.open(i, h)
		found = append(found, d.info)
		if selects(wanted, d.info) {
			n.devices = append(n.devices, d)
		}
	}
	if lost := missing(wanted, found); len(lost) > 0 {
		return fmt.Errorf("gpu.devices: no device %s on this machine, which has %s", strings.Join(lost, ", "), list(found, broken))
	}
	switch {
	case len(wanted) == 0 && len(broken) > 0: // all were meant
		return unavailable(strings.Join(broken, "; ") + "; name the devices to sample in gpu.devices")
	case len(n.devices) == 0:
		return unavailable("the driver knows no device")
	}
	return nil
}

// list names the devices of a machine, so that one of them can be chosen.
func list(found []record.Device, broken []string) string {
	if len(found)+len(broken) == 0 {
		return "none"
	}
	var out []string
	for _, d := range found {
		out = append(out, fmt.Sprintf("%d = %s", d.Index, d.UUID))
	}
	return strings.Join(append(out, broken...), ", ")
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

// probe takes each reading once and keeps those that the card has. One that it
// has and can't tell at this moment is kept.
func (n *NVML) probe(d *device) {
	var first cells
	for _, r := range memoryReadings() {
		if n.supports(r.symbol) && r.read(d.handle, &first) == nvml.SUCCESS {
			d.reading, d.info.MemTotalBytes = append(d.reading, r), first.MemTotalBytes
			if first.MemReservedBytes == nil {
				d.info.Unsupported = append(d.info.Unsupported, "mem_reserved_bytes")
			}
			break // the newer call answered
		}
	}
	if len(d.reading) == 0 {
		d.info.Unsupported = append(d.info.Unsupported, "mem_total_bytes", "mem_used_bytes", "mem_free_bytes", "mem_reserved_bytes")
	}
	for _, r := range readings() {
		if n.supports(r.symbol) && !lacks(r.read(d.handle, &first)) {
			d.reading = append(d.reading, r)
		} else {
			d.info.Unsupported = append(d.info.Unsupported, r.columns...)
		}
	}
	slices.Sort(d.info.Unsupported)
}

// lacks says whether a code means that a card or driver never has a reading.
func lacks(ret nvml.Return) bool {
	switch ret {
	case nvml.ERROR_NOT_SUPPORTED, nvml.ERROR_FUNCTION_NOT_FOUND, nvml.ERROR_NO_PERMISSION, nvml.ERROR_INVALID_ARGUMENT,
		nvml.ERROR_NOT_FOUND, nvml.ERROR_ARGUMENT_VERSION_MISMATCH, nvml.ERROR_DEPRECATED:
		return true
	default:
		return false
	}
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
	all, out := make([]cells, len(n.devices)), make([]record.Sample, len(n.devices))
	for i, d := range n.devices {
		s := &all[i]
		s.Device, s.UUID, s.Name = d.info.Index, d.info.UUID, d.info.Name
		for _, r := range d.reading {
			if ret := r.read(d.handle, s); ret == nvml.ERROR_GPU_IS_LOST || ret == nvml.ERROR_UNINITIALIZED {
				return nil, fmt.Errorf("GPU %s: %s", d.info.UUID, n.text(ret))
			}
		}
		out[i] = s.Sample
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
