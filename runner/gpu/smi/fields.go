package smi

import (
	"strconv"
	"strings"

	"rung/sinks/record"
)

// field is what one column of a text holds.
type field struct {
	is     kind
	column string // of the gpu table; empty: none
	unit   string // of the values that name none themselves
	put    func(*record.Sample, float64)
	about  func(*record.Device, string)
}

type kind int

const (
	isUnknown kind = iota
	isTime
	isDate  // dmon has the day
	isClock // and the time of day beside it
	isIndex
	isUUID
	isBus
	isName
	isNumber
	isAbout // of the card, and the same in every row
)

// known is what a column's name means, in the tool's own words, those of its older
// versions, and those of dmon. ok is false for a name that says nothing here.
func known(name string) (f field, ok bool) {
	if f, ok := identity(name); ok {
		return f, true
	}
	if f, ok := gauge(name); ok {
		f.is = isNumber
		return f, true
	}
	f.is = isAbout
	switch name {
	case "driver_version":
		f.about = func(d *record.Device, v string) { d.Driver = v }
	case "power.limit":
		f.about = func(d *record.Device, v string) {
			if w, why := number(v, "w"); why == "" {
				d.PowerLimitW = &w
			}
		}
	case "mig.mode.current":
		f.about = func(d *record.Device, v string) { d.MIG = enabled(v) }
	case "ecc.mode.current":
		f.about = func(d *record.Device, v string) { d.ECC = enabled(v) }
	default:
		return field{}, false
	}
	return f, true
}

func identity(name string) (field, bool) {
	switch name {
	case "timestamp", "datetime", "epoch":
		return field{is: isTime}, true
	case "date":
		return field{is: isDate}, true
	case "time":
		return field{is: isClock}, true
	case "index", "gpu":
		return field{is: isIndex}, true
	case "uuid", "gpu_uuid":
		return field{is: isUUID}, true
	case "pci.bus_id", "gpu_bus_id":
		return field{is: isBus}, true
	case "name", "gpu_name":
		return field{is: isName}, true
	}
	return field{}, false
}

// gauge gives what varies: its column, and the unit that its values have where
// neither they nor the header name one.
func gauge(name string) (field, bool) {
	count := func(column string, at func(*record.Sample) **int64) (field, bool) {
		return field{column: column, unit: "mib", put: func(s *record.Sample, v float64) { *at(s) = new(int64(v)) }}, true
	}
	level := func(column, unit string, at func(*record.Sample) **float64) (field, bool) {
		return field{column: column, unit: unit, put: func(s *record.Sample, v float64) { *at(s) = &v }}, true
	}
	switch name {
	case "memory.total":
		return count("mem_total_bytes", func(s *record.Sample) **int64 { return &s.MemTotalBytes })
	case "memory.used", "fb":
		return count("mem_used_bytes", func(s *record.Sample) **int64 { return &s.MemUsedBytes })
	case "memory.free":
		return count("mem_free_bytes", func(s *record.Sample) **int64 { return &s.MemFreeBytes })
	case "memory.reserved":
		return count("mem_reserved_bytes", func(s *record.Sample) **int64 { return &s.MemReservedBytes })
	case "utilization.gpu", "sm":
		return level("util_gpu_pct", "%", func(s *record.Sample) **float64 { return &s.UtilGPUPct })
	case "utilization.memory", "mem":
		return level("util_mem_pct", "%", func(s *record.Sample) **float64 { return &s.UtilMemPct })
	case "power.draw", "power.draw.average", "power.draw.instant", "pwr":
		return level("power_w", "w", func(s *record.Sample) **float64 { return &s.PowerW })
	case "temperature.gpu", "gtemp", "temp":
		return level("temperature_c", "c", func(s *record.Sample) **float64 { return &s.TemperatureC })
	case "clocks.sm", "clocks.current.sm", "pclk":
		return level("sm_clock_mhz", "mhz", func(s *record.Sample) **float64 { return &s.SMClockMHz })
	case "clocks.mem", "clocks.current.memory", "mclk":
		return level("mem_clock_mhz", "mhz", func(s *record.Sample) **float64 { return &s.MemClockMHz })
	case "clocks_throttle_reasons.active", "clocks_event_reasons.active":
		return field{column: "throttle_reasons", unit: "bits", put: func(s *record.Sample, v float64) { s.ThrottleReasons = new(int64(v)) }}, true
	}
	return field{}, false
}

// column reads a header's cell: its name, and its unit in brackets where it has one.
func column(cell string) (f field, ok bool) {
	name, unit, has := strings.Cut(strings.ToLower(strings.Trim(strings.TrimSpace(cell), "#")), "[")
	f, ok = known(strings.TrimSpace(name))
	if has && f.unit != "bits" {
		f.unit = strings.TrimSuffix(strings.TrimSpace(unit), "]")
	}
	return f, ok
}

// most is more than any card has of anything, in bytes or another unit.
const most = 1 << 52

// number reads a value with its unit, or the one given. why says in few words why it
// is none; nothing that the tool did not say becomes a 0.
func number(cell, unit string) (v float64, why string) {
	cell = strings.TrimSpace(cell)
	if cell == "" {
		return 0, "empty"
	}
	if unit == "bits" {
		n, err := strconv.ParseUint(cell, 0, 52)
		if err != nil {
			return 0, short(cell)
		}
		return float64(n), ""
	}
	end := strings.IndexFunc(cell, func(r rune) bool { return !strings.ContainsRune("+-.0123456789", r) })
	digits := cell
	if end >= 0 {
		digits = cell[:end]
		if own := strings.TrimSpace(cell[end:]); digits != "" {
			unit = own
		}
	}
	v, err := strconv.ParseFloat(digits, 64)
	per, ok := units(strings.ToLower(unit))
	if v *= per; err != nil || !ok || v < -most || v > most || per >= 1<<10 && v < 0 {
		return 0, short(cell)
	}
	return v, ""
}

// units gives what one of a unit is in the columns' own: bytes, W, MHz, °C, %.
func units(unit string) (float64, bool) {
	switch unit {
	case "", "b", "bytes", "w", "mhz", "%", "c", "°c":
		return 1, true
	case "kib", "kb":
		return 1 << 10, true
	case "mib", "mb": // the tool's older versions and dmon say MB of MiB
		return 1 << 20, true
	case "gib", "gb":
		return 1 << 30, true
	case "mw":
		return 1e-3, true
	default:
		return 0, false
	}
}

// enabled reads a mode; nil where the card has none.
func enabled(v string) *bool {
	switch strings.ToLower(v) {
	case "enabled":
		return new(true)
	case "disabled":
		return new(false)
	default:
		return nil
	}
}

// short bounds a word of a stranger's for a message.
func short(text string) string {
	const most = 60
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "..."
	}
	return text
}
