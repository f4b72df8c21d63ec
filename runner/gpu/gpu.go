package gpu

import (
	"errors"
	"fmt"
	"strconv"

	"rung/sinks/record"
)

// Options say what to sample.
type Options struct {
	Devices []string // UUID or index; empty: all
	Library string   // path of the NVML library; empty: libnvidia-ml.so.1 as the loader finds it
}

// ErrUnavailable says that NVML can't be had on this machine.
var ErrUnavailable = errors.New("NVML can't be used here")

// unavailable is ErrUnavailable with its reason and the ways out.
func unavailable(reason string) error {
	return fmt.Errorf("%w: %s; gpu.source may be \"nvidia-smi\", \"dcgm\" or \"file\" in its place, "+
		"or \"none\" to measure without memory figures", ErrUnavailable, reason)
}

// selects says whether the spec's list of devices names this one.
func selects(devices []string, d record.Device) bool {
	if len(devices) == 0 {
		return true
	}
	for _, want := range devices {
		if want == d.UUID || want == strconv.Itoa(d.Index) {
			return true
		}
	}
	return false
}

// missing names the devices of the list that were not found.
func missing(devices []string, found []record.Device) []string {
	var out []string
	for _, want := range devices {
		ok := false
		for _, d := range found {
			ok = ok || selects([]string{want}, d)
		}
		if !ok {
			out = append(out, want)
		}
	}
	return out
}
