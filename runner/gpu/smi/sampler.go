package smi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"rung/runner/proc"
	"rung/sinks/record"
)

const (
	// askTime is how long the tool has to say what cards there are: without a daemon
	// that keeps it, the driver is loaded anew.
	askTime = time.Minute
	// maxAnswer bounds what it says to that, in bytes.
	maxAnswer = 1 << 20
	// leastSilence is how long the tool may at least say nothing before it counts as hung.
	leastSilence = 10 * time.Second
)

// Config says what to run.
type Config struct {
	Command  []string // the program and its first arguments; empty: nvidia-smi
	Devices  []string // UUID, index or bus id; empty: all
	Interval time.Duration
}

// Sampler runs nvidia-smi and has the newest of what it says.
type Sampler struct {
	cmd      *exec.Cmd
	words    *proc.Words // of its standard error
	patience time.Duration
	done     chan struct{} // closed when the program's output has ended

	mu      sync.Mutex
	devices []record.Device       // as they were found
	set     map[int]record.Sample // since the last complete one
	newest  []record.Sample       // complete, and not yet handed out
	heard   time.Time
	ended   error
}

// Program is the program that is started for a command, and its first arguments:
// nvidia-smi, where the command is empty.
func Program(command []string) []string {
	if len(command) == 0 {
		return []string{"nvidia-smi"}
	}
	return command
}

// Open asks the program for its cards and starts it once more, in a loop. What it does
// not know to query is left out. Its error has the program's own words.
func Open(ctx context.Context, c Config) (*Sampler, error) {
	c.Command = Program(c.Command)
	fields, first, err := ask(ctx, c)
	if err != nil {
		return nil, err
	}
	s := &Sampler{
		patience: max(leastSilence, 20*c.Interval), done: make(chan struct{}), words: &proc.Words{}, set: map[int]record.Sample{},
		heard: time.Now(), devices: first.steady(),
	}
	for i := range s.devices {
		s.devices[i].Unsupported = append(s.devices[i].Unsupported, leftOut(fields)...)
		slices.Sort(s.devices[i].Unsupported)
	}
	args := slices.Concat(c.Command[1:], []string{"--query-gpu=" + strings.Join(fields, ","), "--format=csv", "-lms", fmt.Sprint(c.Interval.Milliseconds())})
	s.cmd = exec.CommandContext(context.WithoutCancel(ctx), c.Command[0], args...) //nolint:gosec // the spec's own command; Close ends it
	proc.OwnGroup(s.cmd)
	s.cmd.Stderr = s.words
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, started(c.Command[0], err)
	}
	go s.listen(out, NewParser(Options{Devices: c.Devices, EndsAtLoss: true}))
	return s, nil
}

// queried are the fields of a sample, the time first.
func queried() []string {
	return []string{"timestamp", "index", "uuid", "pci.bus_id", "name", "memory.total", "memory.used", "memory.free", "memory.reserved",
		"utilization.gpu", "utilization.memory", "power.draw", "temperature.gpu", "clocks.sm", "clocks.mem", "clocks_throttle_reasons.active"}
}

// asked are those that are the same in every sample.
func asked() []string {
	return []string{"driver_version", "power.limit", "mig.mode.current", "ecc.mode.current"}
}

// leftOut are the columns that no field of the list fills.
func leftOut(fields []string) []string {
	var out []string
	for _, name := range queried() {
		f, _ := known(name)
		filled := slices.ContainsFunc(fields, func(other string) bool { o, _ := known(other); return o.column == f.column })
		if f.column != "" && !filled {
			out = append(out, f.column)
		}
	}
	return out
}

// unknownField is how the tool refuses a field that its version has not.
func unknownField(said string) (string, bool) {
	m := regexp.MustCompile(`Field "([^"]+)" is not a valid field to query`).FindStringSubmatch(said)
	if m == nil {
		return "", false
	}
	return m[1], true
}

// ask runs the program once. It gives the fields that it knows, and a parser that has
// seen its cards.
func ask(ctx context.Context, c Config) (fields []string, p *Parser, err error) {
	all := append(queried(), asked()...)
	for {
		said, err := once(ctx, c.Command, all)
		name, unknown := unknownField(said)
		at := slices.Index(all, name)
		if unknown && at > 0 { // not the time
			all = slices.Delete(all, at, at+1)
			if name == "clocks_throttle_reasons.active" {
				all = slices.Insert(all, at, "clocks_event_reasons.active")
			}
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		p = NewParser(Options{Devices: c.Devices})
		err = Read(strings.NewReader(said), p, func(record.Sample) error { return nil })
		switch lost := missing(c.Devices, p); {
		case err != nil && p.Lost != "":
			return nil, nil, fmt.Errorf("%s: %s", c.Command[0], p.Lost)
		case err != nil:
			return nil, nil, fmt.Errorf("%s: %w", c.Command[0], err)
		case len(lost) > 0:
			return nil, nil, fmt.Errorf("gpu.devices: %s knows no device %s; it has %s", c.Command[0], strings.Join(lost, ", "), p.names())
		}
		return slices.DeleteFunc(all, func(f string) bool { return slices.Contains(asked(), f) }), p, nil
	}
}

// missing are the wanted devices that none of the cards is.
func missing(wanted []string, p *Parser) []string {
	var out []string
	for _, w := range wanted {
		if !slices.ContainsFunc(p.cards, func(c *card) bool { return c.chosen([]string{w}) }) {
			out = append(out, w)
		}
	}
	return out
}

// once runs the program to its end and gives what it wrote.
func once(ctx context.Context, command, fields []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], append(slices.Clone(command[1:]), "--query-gpu="+strings.Join(fields, ","), "--format=csv")...) //nolint:gosec // the spec's own command
	proc.OwnGroup(cmd)
	cmd.Cancel = func() error { proc.Kill(cmd); return nil }
	cmd.WaitDelay = time.Second
	out := &bounded{}
	words := &proc.Words{}
	cmd.Stdout, cmd.Stderr = out, words
	err := cmd.Run()
	said := out.String() + "\n" + words.String()
	switch {
	case err == nil:
		return out.String(), nil
	case ctx.Err() != nil:
		return said, fmt.Errorf("%s did not answer within %s", command[0], askTime)
	case cmd.ProcessState == nil:
		return said, started(command[0], err)
	default:
		return said, ended(command[0], err, said)
	}
}

// bounded keeps the beginning of an answer.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), maxAnswer-b.Len())])
	return len(p), nil
}

// started explains a program that could not be started.
func started(name string, err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("the program %q was not found; gpu.command names another, and source = \"none\" measures without memory figures", name)
	}
	return fmt.Errorf("%s can't be started: %w", name, err)
}

// ended explains how a program ended, by its own first words, which may be of any
// language and encoding.
func ended(name string, err error, said string) error {
	words := clean([]byte(said))
	if words == "" {
		words = "it said nothing"
	}
	return fmt.Errorf("%s ended with %w: %s", name, err, short(words))
}

// listen reads the program's lines until there are no more.
func (s *Sampler) listen(out io.Reader, p *Parser) {
	defer close(s.done)
	err := Read(out, p, s.take)
	if lost := p.Err(); lost == nil { // it has ended, or is about to
		t := time.AfterFunc(time.Second, func() { proc.Kill(s.cmd) })
		defer t.Stop()
	} else {
		proc.Kill(s.cmd)
	}
	exit := s.cmd.Wait()
	if exit == nil {
		exit = errors.New("status 0")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch said := strings.TrimSpace(p.Noise + " " + s.words.String()); {
	case p.Err() != nil:
		s.ended = p.Err()
	case err != nil && said == "":
		s.ended = fmt.Errorf("%s: %w", s.cmd.Args[0], err)
	default:
		s.ended = ended(s.cmd.Args[0], exit, said)
	}
}

// take keeps a row; a set is complete once each card has one.
func (s *Sampler) take(row record.Sample) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = time.Now()
	s.set[row.Device] = row
	if len(s.set) < len(s.devices) {
		return nil
	}
	s.newest = s.newest[:0]
	for _, d := range s.devices {
		if row, ok := s.set[d.Index]; ok {
			s.newest = append(s.newest, row)
		}
	}
	clear(s.set)
	return nil
}

// Source names where the samples come from.
func (s *Sampler) Source() string { return "nvidia-smi" }

// Devices lists the cards that are sampled, as they were found.
func (s *Sampler) Devices() []record.Device { return s.devices }

// Sample gives the newest reading of all cards, or none where there is none since the
// last. An error means that there will be no more.
func (s *Sampler) Sample() ([]record.Sample, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case len(s.newest) > 0:
		out := s.newest
		s.newest = nil
		return out, nil
	case s.ended != nil:
		return nil, s.ended
	case time.Since(s.heard) > s.patience:
		return nil, fmt.Errorf("%s has said nothing for %s", s.cmd.Args[0], s.patience)
	default:
		return nil, nil
	}
}

// Close ends the program and all that it started.
func (s *Sampler) Close() error {
	select {
	case <-s.done: // its number may be another's by now
	default:
		proc.Kill(s.cmd)
		<-s.done
	}
	return nil
}
