//go:build cgo && linux

package gpu

import (
	"encoding/binary"
	"math"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"rung/sinks/record"
)

// memoryReadings are the two calls for memory, the better first: the older one
// counts what the driver reserves as used.
func memoryReadings() []reading {
	columns := []string{"mem_total_bytes", "mem_used_bytes", "mem_free_bytes"}
	return []reading{
		{"nvmlDeviceGetMemoryInfo_v2", columns, func(d nvml.Device, s *cells) nvml.Return {
			m, ret := d.GetMemoryInfo_v2()
			if ret == nvml.SUCCESS {
				s.MemCall = "v2"
				s.MemTotalBytes, s.MemUsedBytes, s.MemFreeBytes, s.MemReservedBytes = s.count(m.Total), s.count(m.Used), s.count(m.Free), s.count(m.Reserved)
			}
			return ret
		}},
		{"nvmlDeviceGetMemoryInfo", columns, func(d nvml.Device, s *cells) nvml.Return {
			m, ret := d.GetMemoryInfo()
			if ret == nvml.SUCCESS {
				s.MemCall = "v1"
				s.MemTotalBytes, s.MemUsedBytes, s.MemFreeBytes = s.count(m.Total), s.count(m.Used), s.count(m.Free)
			}
			return ret
		}},
	}
}

func readings() []reading {
	return []reading{
		{"nvmlDeviceGetUtilizationRates", []string{"util_gpu_pct", "util_mem_pct"}, func(d nvml.Device, s *cells) nvml.Return {
			u, ret := d.GetUtilizationRates()
			if ret == nvml.SUCCESS {
				s.UtilGPUPct, s.UtilMemPct = s.level(uint64(u.Gpu), 1), s.level(uint64(u.Memory), 1)
			}
			return ret
		}},
		utilisationSamples(),
		{"nvmlDeviceGetPowerUsage", []string{"power_w"}, func(d nvml.Device, s *cells) nvml.Return {
			mw, ret := d.GetPowerUsage()
			s.PowerW = s.when(ret, uint64(mw), 1000)
			return ret
		}},
		{"nvmlDeviceGetTemperature", []string{"temperature_c"}, func(d nvml.Device, s *cells) nvml.Return {
			c, ret := d.GetTemperature(nvml.TEMPERATURE_GPU)
			s.TemperatureC = s.when(ret, uint64(c), 1)
			return ret
		}},
		{"nvmlDeviceGetClockInfo", []string{"sm_clock_mhz"}, func(d nvml.Device, s *cells) nvml.Return {
			mhz, ret := d.GetClockInfo(nvml.CLOCK_SM)
			s.SMClockMHz = s.when(ret, uint64(mhz), 1)
			return ret
		}},
		{"nvmlDeviceGetClockInfo", []string{"mem_clock_mhz"}, func(d nvml.Device, s *cells) nvml.Return {
			mhz, ret := d.GetClockInfo(nvml.CLOCK_MEM)
			s.MemClockMHz = s.when(ret, uint64(mhz), 1)
			return ret
		}},
		{"nvmlDeviceGetTotalEnergyConsumption", []string{"energy_j"}, func(d nvml.Device, s *cells) nvml.Return {
			mj, ret := d.GetTotalEnergyConsumption()
			s.EnergyJ = s.when(ret, mj, 1000)
			return ret
		}},
		{"nvmlDeviceGetCurrentClocksThrottleReasons", []string{"throttle_reasons"}, func(d nvml.Device, s *cells) nvml.Return {
			bits, ret := d.GetCurrentClocksThrottleReasons()
			if ret == nvml.SUCCESS {
				s.ThrottleReasons = s.count(bits)
			}
			return ret
		}},
		{"nvmlDeviceGetComputeRunningProcesses", []string{"processes"}, func(d nvml.Device, s *cells) nvml.Return {
			all, ret := d.GetComputeRunningProcesses()
			if ret == nvml.SUCCESS {
				s.Processes = nil
				for _, p := range all {
					s.Processes = append(s.Processes, int64(p.Pid))
				}
			}
			return ret
		}},
	}
}

// utilisationSamples reads what the driver itself sampled of the utilisation since the
// reading before: nvmlDeviceGetUtilizationRates covers up to a second. The first reading
// is of what came before there was anybody to ask, and is left out. Whatever the call
// gives in place of samples may mean that there is none that is new.
func utilisationSamples() reading {
	seen, asked := uint64(0), false
	return reading{"nvmlDeviceGetSamples", []string{"util_gpu_samples_pct"}, func(d nvml.Device, s *cells) nvml.Return {
		kind, all, ret := d.GetSamples(nvml.GPU_UTILIZATION_SAMPLES, seen)
		first := !asked
		asked = true
		switch ret {
		case nvml.SUCCESS:
		case nvml.ERROR_NOT_FOUND, nvml.ERROR_INVALID_ARGUMENT:
			return nvml.SUCCESS
		default:
			return ret
		}
		before := seen
		for _, one := range all {
			if v, ok := sampleValue(kind, one.SampleValue); ok && one.TimeStamp > before && !first {
				s.UtilSamplesPct = append(s.UtilSamplesPct, v)
			}
			seen = max(seen, one.TimeStamp)
		}
		return nvml.SUCCESS
	}}
}

// sampleValue reads the union that NVML puts a sample's value in.
func sampleValue(kind nvml.ValueType, b [8]byte) (float64, bool) {
	n := binary.NativeEndian.Uint64(b[:])
	switch kind {
	case nvml.VALUE_TYPE_DOUBLE:
		return math.Float64frombits(n), true
	case nvml.VALUE_TYPE_UNSIGNED_INT:
		return float64(binary.NativeEndian.Uint32(b[:4])), true
	case nvml.VALUE_TYPE_UNSIGNED_LONG, nvml.VALUE_TYPE_UNSIGNED_LONG_LONG, nvml.VALUE_TYPE_SIGNED_LONG_LONG:
		return float64(n), true
	default:
		return 0, false
	}
}

// cells is a sample and room for its values: they live as long, and a sample has a dozen.
type cells struct {
	record.Sample
	counts [5]int64
	levels [7]float64
	nc, nl int // how many are in use
}

// count is a number that the driver gave; nil where it does not fit, which is how some
// drivers say that they do not know.
func (s *cells) count(v uint64) *int64 {
	if v > 1<<62 {
		return nil
	}
	p := &s.counts[s.nc]
	*p = int64(v)
	s.nc++
	return p
}

// level is a reading in its unit, of which the driver gives so many parts.
func (s *cells) level(v uint64, per float64) *float64 {
	p := &s.levels[s.nl]
	*p = float64(v) / per
	s.nl++
	return p
}

// when is a reading, or nil where the call did not succeed.
func (s *cells) when(ret nvml.Return, v uint64, per float64) *float64 {
	if ret != nvml.SUCCESS {
		return nil
	}
	return s.level(v, per)
}
