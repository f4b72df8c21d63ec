package target

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"rung/runner/proc"
	"rung/sinks/record"
)

// program is a target that is called in a process of its own: it reads a request as
// one line of JSON, in the form of the embeddings API, and answers one line. It is
// started when it is first needed, and again after it ended. It works on one request
// at a time.
type program struct {
	command []string
	turn    chan struct{}

	cmd    *exec.Cmd // nil: not running
	in     io.WriteCloser
	out    *bufio.Reader
	stderr *tail
}

// stopGrace is how long a program has to end by itself once its input is closed.
const stopGrace = 5 * time.Second

func newProgram(command []string) *program {
	return &program{command: command, turn: make(chan struct{}, 1)}
}

// start starts the process, if it does not run.
func (p *program) start() error {
	if p.cmd != nil {
		return nil
	}
	cmd := exec.Command(p.command[0], p.command[1:]...) //nolint:gosec,noctx // the command is the spec's, which says what is run; it outlives the request
	proc.OwnGroup(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	p.stderr = &tail{}
	cmd.Stderr = p.stderr
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("target.command: %w", err)
	}
	p.cmd, p.in, p.out = cmd, in, bufio.NewReaderSize(out, 64<<10)
	return nil
}

// stop ends the process and all that it started.
func (p *program) stop(grace time.Duration) {
	if p.cmd == nil {
		return
	}
	_ = p.in.Close() // it may be gone already
	if grace > 0 {
		cmd := p.cmd
		t := time.AfterFunc(grace, func() { proc.Kill(cmd) })
		_, _ = io.Copy(io.Discard, p.out)
		t.Stop()
	}
	p.end()
}

// end ends the process at once.
func (p *program) end() {
	proc.Kill(p.cmd)
	_ = p.cmd.Wait() // how it ended says nothing more
	p.cmd = nil
}

// exchange sends one line and reads one.
func (p *program) exchange(ctx context.Context, body []byte, limit int64, timeout time.Duration) (r Reply) {
	r.Begun = time.Now()
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	r.Stage = record.StageConnect
	r.Reused = p.cmd != nil
	if r.Err = p.start(); r.Err != nil {
		r.Sent = time.Now()
		r.Done = r.Sent
		return r
	}
	w := newWatch(ctx, timeout)
	defer w.end()
	// A call into a program can't be taken back: its time is up with the process.
	cmd, killed := p.cmd, make(chan struct{})
	spare := context.AfterFunc(w.ctx, func() {
		proc.Kill(cmd)
		close(killed)
	})
	r.Stage = record.StageFirstByte
	r.Sent = time.Now()
	line, first, err := p.call(body, limit)
	r.Done, r.FirstByte = time.Now(), first
	late := !spare()
	if late {
		<-killed
	}
	if err != nil || late { // an answer that came as the time was up is one, of a program that is no more
		p.end()
	}
	if err != nil {
		r.Stage, r.Err = w.why(r.Stage, err)
		if said := p.stderr.String(); said != "" && !errors.Is(r.Err, context.DeadlineExceeded) && ctx.Err() == nil {
			r.Err = programError{fmt.Errorf("%w; it said: %s", r.Err, said)}
		}
		return r
	}
	r.Status, r.Body, r.Protocol = 200, line, "exec"
	return r
}

// programError is how a program ended, with its last words.
type programError struct{ error }

func (e programError) Unwrap() error { return e.error }

// call writes a line and reads one; first is when its first byte was there.
func (p *program) call(body []byte, limit int64) (line []byte, first time.Time, err error) {
	if _, err := p.in.Write(append(bytes.ReplaceAll(body, []byte("\n"), nil), '\n')); err != nil {
		return nil, first, fmt.Errorf("the program takes no more: %w", err)
	}
	if _, err := p.out.Peek(1); err != nil {
		return nil, first, fmt.Errorf("the program ended without an answer: %w", err)
	}
	first = time.Now()
	for {
		part, err := p.out.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case int64(len(line)) > limit:
			return nil, first, errTooLarge
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return nil, first, fmt.Errorf("the program ended in its answer: %w", err)
		default:
			return bytes.TrimSpace(line), first, nil
		}
	}
}

// tail keeps the last of what a program writes.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

// Write keeps the end of what was written.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if over := len(t.buf) - errorBytes; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(Excerpt(t.buf, errorBytes))
}
