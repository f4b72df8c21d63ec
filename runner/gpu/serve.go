package gpu

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"rung/sinks/record"
)

// What the child says, one line of JSON each: first of its devices, then of each
// reading that it was asked for by a line.
type said struct {
	Devices     []record.Device `json:"devices,omitempty"`
	Samples     []wire          `json:"samples,omitempty"`
	Error       string          `json:"error,omitempty"`
	Unavailable bool            `json:"unavailable,omitempty"` // Error is that NVML can't be had
}

// Serve is the child's side: it reads NVML whenever a line comes in and answers by a
// line, until there are no more. What goes wrong with the driver is answered too; what
// ends the process can't be, and its parent sees that.
func Serve(in io.Reader, out io.Writer, o Options) error {
	answers := json.NewEncoder(out)
	n, err := OpenNVML(o)
	if err != nil {
		return answers.Encode(said{Error: err.Error(), Unavailable: errors.Is(err, ErrUnavailable)})
	}
	defer n.Close() //nolint:errcheck // the process ends with it
	if err := answers.Encode(said{Devices: n.Devices()}); err != nil {
		return fmt.Errorf("the sampler's parent is gone: %w", err)
	}
	for asks := bufio.NewScanner(in); asks.Scan(); {
		s := said{}
		samples, err := n.Sample()
		if err != nil {
			s.Error = err.Error()
		}
		for _, one := range samples {
			s.Samples = append(s.Samples, wire(one))
		}
		if err := answers.Encode(s); err != nil {
			return fmt.Errorf("the sampler's parent is gone: %w", err)
		}
	}
	return nil
}

// wire is a record.Sample as it is said to the run's process, up to a hundred times a
// second: short, and without what the other side knows.
type wire struct {
	record.Place `json:"-"`
	Time         time.Time `json:"-"`
	TS           float64   `json:"-"`
	LateS        float64   `json:"-"`
	Forced       bool      `json:"-"`
	Device       int       `json:"d,omitempty"`
	UUID         string    `json:"-"`
	Name         string    `json:"-"`
	MemCall      string    `json:"c,omitempty"`

	MemTotalBytes    *int64    `json:"t,omitempty"`
	MemUsedBytes     *int64    `json:"u,omitempty"`
	MemFreeBytes     *int64    `json:"f,omitempty"`
	MemReservedBytes *int64    `json:"r,omitempty"`
	UtilGPUPct       *float64  `json:"g,omitempty"`
	UtilMemPct       *float64  `json:"m,omitempty"`
	UtilSamplesPct   []float64 `json:"s,omitempty"`
	PowerW           *float64  `json:"p,omitempty"`
	TemperatureC     *float64  `json:"h,omitempty"`
	SMClockMHz       *float64  `json:"k,omitempty"`
	MemClockMHz      *float64  `json:"l,omitempty"`
	EnergyJ          *float64  `json:"e,omitempty"`
	ThrottleReasons  *int64    `json:"b,omitempty"`
	Processes        []int64   `json:"i,omitempty"`
}
