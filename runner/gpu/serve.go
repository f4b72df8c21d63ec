package gpu

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"rung/sinks/record"
)

// said is what the child says first, as JSON.
type said struct {
	Devices     []record.Device `json:"devices,omitempty"`
	Error       string          `json:"error,omitempty"`
	Unavailable bool            `json:"unavailable,omitempty"` // Error is that NVML can't be had
}

// What the child is asked: a byte, and an interval in nanoseconds as eight.
type ask byte

const (
	askRead ask = iota + 1 // read now, beside the schedule
	askHeld                // say what was read and not yet said
	askPace                // read each interval from now on; 0: no longer
)

const askLength = 9

// heldFor is how long a reading of the schedule may wait for others before it is said:
// to wake the run's process costs as much as to read a card. So much a crash takes.
const heldFor = 100 * time.Millisecond

// Serve is the child's side: it reads NVML on the schedule that it is given, and whenever
// it is asked to, until there are no more asks. What goes wrong with the driver it says
// too; what ends the process it can't, and its parent sees that.
func Serve(in io.Reader, out io.Writer, o Options) error {
	cards, err := OpenNVML(o)
	if err != nil {
		return greet(out, said{Error: err.Error(), Unavailable: errors.Is(err, ErrUnavailable)})
	}
	s := &server{cards: cards, out: out}
	defer s.close()
	if s.ticks, err = newTicker(); err != nil {
		return greet(out, said{Error: err.Error()})
	}
	if err := greet(out, said{Devices: cards.Devices()}); err != nil {
		return err
	}
	go s.ticks.each(&s.turn, s.tick)
	for request := make([]byte, askLength); ; {
		if _, err := io.ReadFull(in, request); err != nil {
			return nil // its parent wants no more
		}
		if err := s.answer(ask(request[0]), time.Duration(binary.LittleEndian.Uint64(request[1:]))); err != nil {
			return err
		}
	}
}

func greet(out io.Writer, s said) error {
	body, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return write(out, hello, body)
}

func write(out io.Writer, k kind, body []byte) error {
	if _, err := out.Write(appendFrame(nil, k, body)); err != nil {
		return fmt.Errorf("the sampler's parent is gone: %w", err)
	}
	return nil
}

// server is the child.
type server struct {
	out   io.Writer
	ticks *ticker

	turn     sync.Mutex // of what follows: one reading at a time
	cards    *NVML
	interval time.Duration // 0: no schedule
	due      int64         // the next time of the schedule, on the clock monotonic
	held     []byte        // readings that were not yet said
	waiting  int           // how many
	failed   error         // there will be no more
}

// tick reads as the schedule has it, of which so many times have passed.
func (s *server) tick(passed int64) {
	if s.failed != nil || s.interval == 0 {
		return
	}
	due := s.due + (passed-1)*int64(s.interval)
	s.due = due + int64(s.interval)
	now := monotonic()
	s.read(taken{at: now, late: max(0, now-due), missed: uint32(passed - 1)}) //nolint:gosec // 4 billion would be a year
	if s.failed != nil || time.Duration(s.waiting)*s.interval >= heldFor {
		_ = s.say(pending) // where the parent is gone the asks end too
	}
}

// answer does what it is asked, and says what was read until then.
func (s *server) answer(what ask, interval time.Duration) error {
	s.turn.Lock()
	defer s.turn.Unlock()
	switch what {
	case askRead:
		s.read(taken{at: monotonic(), forced: true})
	case askHeld:
	case askPace:
		s.due, s.interval = monotonic(), interval
		if err := s.ticks.set(s.due, interval); err != nil {
			s.failed = err
		}
	default:
		return fmt.Errorf("ask %d is none that the sampler knows", what)
	}
	return s.say(answer)
}

// read reads every device.
func (s *server) read(t taken) {
	if s.failed != nil {
		return
	}
	if t.samples, s.failed = s.cards.Sample(); s.failed == nil {
		s.held = appendTaken(s.held, &t)
		s.waiting++
	}
}

// say hands over what is held, and why there will be no more.
func (s *server) say(k kind) error {
	held := s.held
	s.held, s.waiting = s.held[:0], 0
	if s.failed == nil {
		return write(s.out, k, held)
	}
	if err := write(s.out, pending, held); err != nil {
		return err
	}
	return write(s.out, failed, []byte(s.failed.Error()))
}

// close ends the schedule and lets go of the library.
func (s *server) close() {
	s.turn.Lock()
	defer s.turn.Unlock()
	s.interval = 0
	if s.ticks != nil {
		s.ticks.close()
	}
	_ = s.cards.Close() // the process ends with it
}
