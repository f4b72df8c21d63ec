package gpu

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"rung/runner/proc"
	"rung/sinks/record"
)

// openTime is how long the child has to find its devices: a driver that is not loaded
// takes seconds at the first call.
const openTime = time.Minute

// usualFrame is more than eight cards' frame has, in bytes.
const usualFrame = 16 << 10

// Child reads NVML in a process of its own, so that a driver which lacks a function,
// hangs or crashes takes no run down: the samples end, and the run goes on. That process
// keeps the schedule too, and hands over some readings at once, as it costs the run's
// process more to wake up than to take them.
type Child struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out      *os.File
	frames   *bufio.Reader // of out
	devices  []record.Device
	stderr   *proc.Words
	opened   int64         // on the clock monotonic
	patience time.Duration // with a reading: a driver that hangs takes for ever

	asking  sync.Mutex // one ask at a time
	answers chan []record.Sample
	ended   error // why; to be read when answers is closed

	mu       sync.Mutex // of what follows, and of out's deadline
	asked    bool       // an answer is due
	schedule *schedule  // nil: none
}

// schedule is who takes the readings.
type schedule struct {
	interval time.Duration
	take     func(samples []record.Sample, missed int)
	ended    func(error)
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
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c := &Child{cmd: cmd, in: in, out: out, frames: bufio.NewReaderSize(out, usualFrame), answers: make(chan []record.Sample), stderr: &proc.Words{},
		opened: monotonic(), patience: patience}
	cmd.Stdout, cmd.Stderr = theirs, c.stderr
	err = cmd.Start()
	_ = theirs.Close() // the child has its own
	if err != nil {
		_ = out.Close() // nothing came
		return nil, unavailable("its process can't be started: " + err.Error())
	}
	if c.devices, err = c.greeted(); err != nil {
		c.kill()
		return nil, err
	}
	go c.listen()
	return c, nil
}

// greeted waits for the child's devices.
func (c *Child) greeted() ([]record.Device, error) {
	_ = c.out.SetReadDeadline(time.Now().Add(openTime)) // a pipe has one
	k, body, err := readFrame(c.frames)
	if err != nil {
		return nil, unavailable("its process ended at once: " + c.reason(err, openTime).Error())
	}
	var first said
	if err := json.Unmarshal(body, &first); err != nil || k != hello {
		return nil, unavailable("its process does not say which devices there are")
	}
	switch {
	case first.Unavailable:
		return nil, fmt.Errorf("%w%s", ErrUnavailable, strings.TrimPrefix(first.Error, ErrUnavailable.Error()))
	case first.Error != "":
		return nil, errors.New(first.Error)
	}
	return first.Devices, nil
}

// listen hands on what the child says, to its end.
func (c *Child) listen() {
	for {
		c.wait(nil)
		k, body, err := readFrame(c.frames)
		if err != nil {
			err = fmt.Errorf("the process that reads the GPU: %w", c.reason(err, c.patience))
		} else {
			err = c.heard(k, body)
		}
		if err != nil {
			c.kill()
			c.end(err)
			return
		}
	}
}

// wait bounds how long the child may be silent from now on, after a change of what is
// expected of it: it owes an answer at once, and a reading when the schedule has it.
func (c *Child) wait(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if change != nil {
		change()
	}
	var until time.Time // for ever
	switch {
	case c.asked:
		until = time.Now().Add(c.patience)
	case c.schedule != nil:
		until = time.Now().Add(c.patience + max(c.schedule.interval, heldFor) + c.schedule.interval)
	}
	_ = c.out.SetReadDeadline(until) // a pipe has one
}

// reason is why there is no frame, in place of a reader's error.
func (c *Child) reason(err error, most time.Duration) error {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Errorf("the driver did not answer within %s", most)
	case !errors.Is(err, io.EOF):
		return err
	}
	text := "it ended"
	if err := c.cmd.Wait(); err != nil {
		text = err.Error()
	}
	if words := c.stderr.String(); words != "" {
		text += ": " + words
	}
	return errors.New(text)
}

// end says to who waits for readings that there will be no more, and why.
func (c *Child) end(err error) {
	c.ended = err
	c.mu.Lock()
	s := c.schedule
	c.schedule = nil
	c.mu.Unlock()
	if s != nil {
		s.ended(err)
	}
	close(c.answers)
}

// heard hands on one frame.
func (c *Child) heard(k kind, body []byte) error {
	if k == failed {
		return errors.New(string(body))
	}
	if k == hello {
		return errors.New("the process that reads the GPU begins anew")
	}
	all, err := readTaken(body)
	if err != nil {
		return fmt.Errorf("the process that reads the GPU: %w", err)
	}
	asked, err := c.handOn(all)
	if err != nil || k == pending {
		return err
	}
	waited := false
	c.wait(func() { waited, c.asked = c.asked, false })
	if !waited {
		return errors.New("the process that reads the GPU answered what it was not asked")
	}
	c.answers <- asked
	return nil
}

// handOn gives the schedule's readings to who takes them, and gives back what was asked for.
func (c *Child) handOn(all []taken) (asked []record.Sample, err error) {
	c.mu.Lock()
	s := c.schedule
	c.mu.Unlock()
	now, clock := time.Now(), monotonic()
	for _, t := range all {
		if err := c.name(t.samples, now.Add(time.Duration(t.at-clock)), time.Duration(t.late)); err != nil {
			return nil, err
		}
		if t.at < c.opened || t.at > clock {
			return nil, errors.New("the process that reads the GPU gave a sample of a time that is not now")
		}
		switch {
		case t.forced:
			asked = t.samples
		case s != nil:
			s.take(t.samples, int(t.missed))
		}
	}
	return asked, nil
}

// name fills in whose the samples are and when they were taken, which the child does not
// repeat.
func (c *Child) name(samples []record.Sample, at time.Time, late time.Duration) error {
	for i := range samples {
		s := &samples[i]
		n := slices.IndexFunc(c.devices, func(d record.Device) bool { return d.Index == s.Device })
		if n < 0 {
			return fmt.Errorf("the process that reads the GPU gave a sample of device %d, which it has not", s.Device)
		}
		s.UUID, s.Name, s.Time, s.LateS = c.devices[n].UUID, c.devices[n].Name, at, late.Seconds()
	}
	return nil
}

// ask asks the child for something and waits for its answer, after what was read before
// has been handed on.
func (c *Child) ask(what ask, interval time.Duration, change func()) ([]record.Sample, error) {
	c.asking.Lock()
	defer c.asking.Unlock()
	c.wait(func() {
		c.asked = true
		if change != nil {
			change()
		}
	})
	_, _ = c.in.Write(binary.LittleEndian.AppendUint64([]byte{byte(what)}, uint64(interval))) // where it is gone its output ends too
	samples, ok := <-c.answers
	if !ok {
		return nil, c.ended
	}
	return samples, nil
}

// Source names where the samples come from.
func (c *Child) Source() string { return "nvml" }

// Devices lists the cards that are sampled.
func (c *Child) Devices() []record.Device { return c.devices }

// Sample reads every device, beside the schedule. An error means that there will be no
// more samples.
func (c *Child) Sample() ([]record.Sample, error) { return c.ask(askRead, 0, nil) }

// Start reads every device each interval from now on, until Stop. take gets each reading
// in its order, up to a tenth of a second late, with its time and its lateness, and
// how many of the schedule were left out before it. ended is told if there will be no more,
// which is an error here where it is known at once. Neither may ask the child for anything.
func (c *Child) Start(interval time.Duration, take func(samples []record.Sample, missed int), ended func(error)) error {
	_, err := c.ask(askPace, interval, func() { c.schedule = &schedule{interval: interval, take: take, ended: ended} })
	return err
}

// Collect sees that all that was read until now has been taken.
func (c *Child) Collect() { _, _ = c.ask(askHeld, 0, nil) } // ended is told

// Stop ends the schedule, after all that was read has been taken.
func (c *Child) Stop() {
	_, _ = c.ask(askPace, 0, nil) // ended was told
	c.wait(func() { c.schedule = nil })
}

// kill ends a child that may not listen any more, or has ended.
func (c *Child) kill() {
	_ = c.in.Close() // what it may have started ends by that
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()  // it was killed
	_ = c.out.Close() // it was only read
}

// Close lets the child end by itself, and sees that it does.
func (c *Child) Close() error {
	c.wait(func() { c.schedule = nil })
	_ = c.in.Close() // it may be gone
	t := time.AfterFunc(c.patience, func() { _ = c.cmd.Process.Kill() })
	defer t.Stop()
	for range c.answers { // the samples are there; nothing depends on how it ended
	}
	return nil
}
