package gpu

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"rung/sinks/record"
)

// What the child says, one line of JSON each: first of its devices, then of each
// reading that it was asked for by a line.
type said struct {
	Devices     []record.Device `json:"devices,omitempty"`
	Samples     []record.Sample `json:"samples,omitempty"`
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
		if s.Samples, err = n.Sample(); err != nil {
			s.Error = err.Error()
		}
		if err := answers.Encode(s); err != nil {
			return fmt.Errorf("the sampler's parent is gone: %w", err)
		}
	}
	return nil
}
