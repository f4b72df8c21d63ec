package gpu

import "rung/sinks/record"

// Gauge is one column of a sample that a card may tell.
type Gauge struct {
	Column, Unit string
	Of           func(*record.Sample) (float64, bool) // false: it did not tell it
}

// Gauges lists them, in the order of the table.
func Gauges() []Gauge {
	count := func(at func(*record.Sample) *int64) func(*record.Sample) (float64, bool) {
		return func(s *record.Sample) (float64, bool) {
			if v := at(s); v != nil {
				return float64(*v), true
			}
			return 0, false
		}
	}
	level := func(at func(*record.Sample) *float64) func(*record.Sample) (float64, bool) {
		return func(s *record.Sample) (float64, bool) {
			if v := at(s); v != nil {
				return *v, true
			}
			return 0, false
		}
	}
	return []Gauge{
		{"mem_total_bytes", "bytes", count(func(s *record.Sample) *int64 { return s.MemTotalBytes })},
		{"mem_used_bytes", "bytes", count(func(s *record.Sample) *int64 { return s.MemUsedBytes })},
		{"mem_free_bytes", "bytes", count(func(s *record.Sample) *int64 { return s.MemFreeBytes })},
		{"mem_reserved_bytes", "bytes", count(func(s *record.Sample) *int64 { return s.MemReservedBytes })},
		{"util_gpu_pct", "%", level(func(s *record.Sample) *float64 { return s.UtilGPUPct })},
		{"util_mem_pct", "%", level(func(s *record.Sample) *float64 { return s.UtilMemPct })},
		{"power_w", "W", level(func(s *record.Sample) *float64 { return s.PowerW })},
		{"temperature_c", "C", level(func(s *record.Sample) *float64 { return s.TemperatureC })},
		{"sm_clock_mhz", "MHz", level(func(s *record.Sample) *float64 { return s.SMClockMHz })},
		{"mem_clock_mhz", "MHz", level(func(s *record.Sample) *float64 { return s.MemClockMHz })},
		{"energy_j", "J", level(func(s *record.Sample) *float64 { return s.EnergyJ })},
		{"throttle_reasons", "bits", count(func(s *record.Sample) *int64 { return s.ThrottleReasons })},
		{"processes", "", func(s *record.Sample) (float64, bool) { return float64(len(s.Processes)), true }},
	}
}
