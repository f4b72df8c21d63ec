package server

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"

	"rung/sinks/record"
	"rung/spec/plan"
)

// Bounds on what is kept of what a server prints.
const (
	mostLog   = 256 << 20 // bytes in the log; what follows is counted
	mostLine  = 16 << 10  // bytes of a line; the rest of it is left out
	keptLines = 10        // for an error
	shownLine = 300       // bytes of each
)

// journal is the log of all lives of a server, bounded over all of them.
type journal struct {
	to      io.Writer
	mu      sync.Mutex
	written int64
}

func (j *journal) line(text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.written > mostLog {
		return
	}
	n, _ := io.WriteString(j.to, text+"\n") // a log that can't be written must not stop the server
	if j.written += int64(n); j.written > mostLog {
		_, _ = fmt.Fprintf(j.to, "rung: the log ends here, at %d bytes; the server printed more\n", mostLog)
	}
}

// output takes what one life of a server prints: into the log, and its last lines by
// themselves.
type output struct {
	log   *journal
	each  func(string)
	ready *regexp.Regexp
	scrub plan.Scrubber
	done  chan struct{}

	mu    sync.Mutex
	lines []string
	seen  bool // a line that says it is ready
}

func newOutput(cfg Config, log *journal, ready *regexp.Regexp) *output {
	return &output{log: log, each: cfg.Line, ready: ready, scrub: cfg.Secrets.Scrubber(), done: make(chan struct{})}
}

// read takes all lines, to the end of the pipe: what is not read would block whoever
// prints it.
func (o *output) read(r *os.File) {
	defer close(o.done)
	defer r.Close() //nolint:errcheck // it was only read
	lines := bufio.NewReaderSize(r, mostLine)
	whole := true // what comes next begins a line
	for {
		part, err := lines.ReadSlice('\n')
		if whole && len(part) > 0 {
			o.line(part)
		}
		whole = !errors.Is(err, bufio.ErrBufferFull)
		if err != nil && whole {
			return
		}
	}
}

// settle waits until what was printed is read, but not for what holds the pipe open.
func (o *output) settle() {
	select {
	case <-o.done:
	case <-time.After(time.Second):
	}
}

// line takes one line.
func (o *output) line(b []byte) {
	text := strings.ToValidUTF8(strings.TrimRight(string(o.scrub.Clean(b)), "\r\n"), "\uFFFD")
	if o.each != nil {
		o.each(text)
	}
	o.log.line(text)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen = o.seen || o.ready != nil && o.ready.MatchString(text)
	if o.lines = append(o.lines, text); len(o.lines) > keptLines {
		o.lines = o.lines[1:]
	}
}

func (o *output) matched() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seen
}

// last are the last lines, as they may be shown.
func (o *output) last() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	var out []string
	for _, line := range o.lines {
		out = append(out, clip(record.OneLine(line)))
	}
	return out
}

func clip(s string) string {
	if len(s) <= shownLine {
		return s
	}
	return strings.ToValidUTF8(s[:shownLine], "") + "…"
}
