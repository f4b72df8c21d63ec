package dcgm

import (
	"math"

	"rung/sinks/record"
)

const mib = 1 << 20

// Values by which DCGM says that it has none: of integers, as the nearest real number,
// and the few of real numbers.
const (
	noInteger = 9.2e18
	noReal    = 1 << 47
	noReals   = 16
)

// known is a value, or nil where the exporter has none. No figure on its pages is
// below zero.
func known(v float64) *float64 {
	if math.IsNaN(v) || v < 0 || v >= noInteger || v >= noReal && v < noReal+noReals {
		return nil
	}
	return &v
}

// Series that more than one column, or a rule, needs.
const (
	fbTotal    = "DCGM_FI_DEV_FB_TOTAL"
	fbUsed     = "DCGM_FI_DEV_FB_USED"
	fbFree     = "DCGM_FI_DEV_FB_FREE"
	fbReserved = "DCGM_FI_DEV_FB_RESERVED"
	gpuUtil    = "DCGM_FI_DEV_GPU_UTIL"
	grActive   = "DCGM_FI_PROF_GR_ENGINE_ACTIVE"
)

// column is one of the table gpu and the series that it is read from.
type column struct {
	name    string
	sources []string // any of them is enough
}

func columns() []column {
	return []column{
		{"mem_total_bytes", []string{fbTotal, fbFree}}, // the sum of free and used
		{"mem_used_bytes", []string{fbUsed}},
		{"mem_free_bytes", []string{fbFree}},
		{"mem_reserved_bytes", []string{fbReserved}},
		{"util_gpu_pct", []string{gpuUtil, grActive}},
		{"util_mem_pct", []string{"DCGM_FI_DEV_MEM_COPY_UTIL"}},
		{"power_w", []string{"DCGM_FI_DEV_POWER_USAGE"}},
		{"temperature_c", []string{"DCGM_FI_DEV_GPU_TEMP"}},
		{"sm_clock_mhz", []string{"DCGM_FI_DEV_SM_CLOCK"}},
		{"mem_clock_mhz", []string{"DCGM_FI_DEV_MEM_CLOCK"}},
		{"energy_j", []string{"DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"}},
		{"throttle_reasons", []string{"DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS"}},
		{"processes", nil},
	}
}

// first is the value of the first of some series that has one.
func (d *device) first(names ...string) *float64 {
	for _, n := range names {
		if v := d.values[n]; v != nil {
			return v
		}
	}
	return nil
}

// describe is the device as the manifest has it.
func (d *device) describe() record.Device {
	out := record.Device{Index: d.index, UUID: d.key(), Name: d.name, Driver: d.driver, MemTotalBytes: d.total(), PowerLimitW: d.first("DCGM_FI_DEV_POWER_MGMT_LIMIT")}
	if d.instance != "" {
		out.MIG = new(true)
	}
	for _, c := range columns() {
		there := false
		for _, s := range c.sources {
			_, ok := d.values[s]
			there = there || ok
		}
		if !there {
			out.Unsupported = append(out.Unsupported, c.name)
		}
	}
	return out
}

// sample is one reading of the device, without its place and its times.
func (d *device) sample() record.Sample {
	s := record.Sample{Device: d.index, UUID: d.key(), Name: d.name,
		MemTotalBytes:    d.total(),
		MemUsedBytes:     bytes(d.first(fbUsed)),
		MemFreeBytes:     bytes(d.first(fbFree)),
		MemReservedBytes: bytes(d.first(fbReserved)),
		UtilGPUPct:       d.utilisation(),
		UtilMemPct:       d.first("DCGM_FI_DEV_MEM_COPY_UTIL"),
		PowerW:           d.first("DCGM_FI_DEV_POWER_USAGE"),
		TemperatureC:     d.first("DCGM_FI_DEV_GPU_TEMP"),
		SMClockMHz:       d.first("DCGM_FI_DEV_SM_CLOCK"),
		MemClockMHz:      d.first("DCGM_FI_DEV_MEM_CLOCK"),
	}
	if s.MemUsedBytes != nil {
		s.MemCall = "dcgm"
	}
	if mj := d.first("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"); mj != nil {
		s.EnergyJ = new(*mj / 1000)
	}
	if bits := d.first("DCGM_FI_DEV_CLOCKS_EVENT_REASONS", "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS"); bits != nil {
		s.ThrottleReasons = new(int64(*bits))
	}
	return s
}

// total is the device's memory in bytes. Few exporters tell it; most have its parts.
func (d *device) total() *int64 {
	if v := d.first(fbTotal); v != nil {
		return bytes(v)
	}
	used, free := bytes(d.first(fbUsed)), bytes(d.first(fbFree))
	if used == nil || free == nil {
		return nil
	}
	sum := *used + *free
	if reserved := bytes(d.first(fbReserved)); reserved != nil {
		sum += *reserved
	}
	return &sum
}

// utilisation is the time in which some kernel ran, in percent. On an instance of MIG
// the driver does not know it, and says nothing or zero; the profiler's share of time
// in which the engine was active is in its place.
func (d *device) utilisation() *float64 {
	util, active := d.first(gpuUtil), d.first(grActive)
	if active != nil && (util == nil || *util == 0 && d.instance != "") {
		return new(*active * 100)
	}
	return util
}

// bytes is a memory in MiB in bytes.
func bytes(v *float64) *int64 {
	if v == nil || *v > 1<<40 {
		return nil
	}
	return new(int64(*v * mib))
}
