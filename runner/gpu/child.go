package gpu

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"

	"rung/runner/proc"
	"rung/sinks/record"
)

// openTime is how long the child has to find its devices: a driver that is not loaded
// takes seconds at the first call.
const openTime = time.Minute

// maxSaid bounds a line of the child's, in bytes.
const maxSaid = 4 << 20

// Child reads NVML in a process of its own, so that a driver which lacks a function,
// hangs or crashes takes no run down: the samples end, and the run goes on.
type Child struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	lines   chan line
	devices []record.Device
	stderr  *proc.Words

	patience time.Duration // with a reading: a driver that hangs takes for ever
}

type line struct {
	said said
	err  error
}

// OpenChild starts command, which calls Serve, and waits until it has found the
// devices. A reading that takes longer than patience is the last. Its errors are those
// of OpenNVML.
func OpenChild(command []string, patience time.Duration) (*Child, error) {
	cmd := exec.CommandContext(context.Background(), command[0], command[1:]...) // it ends with its input
	cmd.Args[0] = "rung"                                                         // in a list of processes, whatever its file is called
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c := &Child{cmd: cmd, in: in, lines: make(chan line), stderr: &proc.Words{}, patience: patience}
	cmd.Stderr = c.stderr
	if err := cmd.Start(); err != nil {
		return nil, unavailable("its process can't be started: " + err.Error())
	}
	go c.listen(out)
	first, err := c.next(openTime)
	switch {
	case err != nil:
		c.kill()
		return nil, unavailable("its process ended at once: " + err.Error())
	case first.Unavailable:
		c.kill()
		return nil, fmt.Errorf("%w%s", ErrUnavailable, strings.TrimPrefix(first.Error, ErrUnavailable.Error()))
	case first.Error != "":
		c.kill()
		return nil, errors.New(first.Error)
	}
	c.devices = first.Devices
	return c, nil
}

// listen hands on what the child says, to its end.
func (c *Child) listen(out io.Reader) {
	defer close(c.lines)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxSaid)
	for lines.Scan() {
		var l line
		l.err = json.Unmarshal(lines.Bytes(), &l.said)
		c.lines <- l
	}
}

// next waits for a line of the child's.
func (c *Child) next(most time.Duration) (said, error) {
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case l, ok := <-c.lines:
		if !ok {
			return said{}, c.ended()
		}
		return l.said, l.err
	case <-t.C:
		return said{}, fmt.Errorf("the driver did not answer within %s", most)
	}
}

// ended says how the child ended, with its first words.
func (c *Child) ended() error {
	err := c.cmd.Wait()
	text := "it ended"
	if err != nil {
		text = err.Error()
	}
	if words := c.stderr.String(); words != "" {
		text += ": " + words
	}
	return errors.New(text)
}

// Source names where the samples come from.
func (c *Child) Source() string { return "nvml" }

// Devices lists the cards that are sampled.
func (c *Child) Devices() []record.Device { return c.devices }

// Sample reads every device. An error means that there will be no more samples.
func (c *Child) Sample() ([]record.Sample, error) {
	if _, err := io.WriteString(c.in, "\n"); err != nil {
		return nil, fmt.Errorf("the process that reads the GPU is gone: %w", c.ended())
	}
	s, err := c.next(c.patience)
	if err != nil {
		c.kill()
		return nil, fmt.Errorf("the process that reads the GPU: %w", err)
	}
	if s.Error != "" {
		return nil, errors.New(s.Error)
	}
	return c.named(s.Samples)
}

// named fills in whose the samples are, which the child does not repeat.
func (c *Child) named(said []wire) ([]record.Sample, error) {
	out := make([]record.Sample, len(said))
	for i, w := range said {
		at := slices.IndexFunc(c.devices, func(d record.Device) bool { return d.Index == w.Device })
		if at < 0 {
			return nil, fmt.Errorf("the process that reads the GPU gave a sample of device %d, which it has not", w.Device)
		}
		w.UUID, w.Name = c.devices[at].UUID, c.devices[at].Name
		out[i] = record.Sample(w)
	}
	return out, nil
}

// kill ends a child that may not listen any more.
func (c *Child) kill() {
	_ = c.cmd.Process.Kill()
	for range c.lines { // until it is gone
	}
	_ = c.cmd.Wait() // it was killed
}

// Close lets the child end by itself, and sees that it does.
func (c *Child) Close() error {
	_ = c.in.Close() // it may be gone
	t := time.AfterFunc(c.patience, func() { _ = c.cmd.Process.Kill() })
	defer t.Stop()
	for range c.lines {
	}
	_ = c.cmd.Wait() // the samples are there; nothing depends on how it ended
	return nil
}
