package serverlog

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"rung/spec/plan"
)

// Bounds on the reading of a file that another writes.
const (
	lookEvery = 200 * time.Millisecond
	mostHead  = 4 << 20 // bytes of its beginning, in which a server says how it is set
)

// Follower reads the log of a server that runs already.
type Follower struct {
	path  string
	scrub plan.Scrubber
	w     *Watcher
	file  *os.File
	lines *bufio.Reader
	whole bool   // what comes next begins a line
	begun []byte // of a line whose end is not written yet
}

// Follow looks at the beginning of a file for settings, and from then on at what is
// written to it, until ctx ends: what was there before is of no run. A file that is
// replaced or made shorter is read from its beginning.
func Follow(ctx context.Context, path string, scrub plan.Scrubber, w *Watcher) (wait func(), err error) {
	f := &Follower{path: path, scrub: scrub, w: w}
	if err := f.open(true); err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = f.file.Close() }() // it was only read
		t := time.NewTicker(lookEvery)
		defer t.Stop()
		for {
			f.read(f.w.Line)
			select {
			case <-ctx.Done():
				f.read(f.w.Line)
				return
			case <-t.C:
				f.renew()
			}
		}
	}()
	return func() { <-done }, nil
}

// open opens the file; at its end where that is wanted, its beginning having been looked
// at for settings.
func (f *Follower) open(atEnd bool) error {
	info, err := os.Stat(f.path)
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular(): // to open a pipe might wait for ever
		return fmt.Errorf("%s is no file that could be followed", f.path)
	}
	file, err := os.Open(f.path)
	if err != nil {
		return err
	}
	f.file, f.lines, f.whole, f.begun = file, bufio.NewReaderSize(file, mostLooked), true, nil
	if !atEnd {
		return nil
	}
	f.lines.Reset(io.LimitReader(file, mostHead))
	f.read(f.w.learn)
	if _, err := file.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	f.lines.Reset(file)
	f.begun = nil
	return nil
}

// renew opens the file anew where it was replaced or cut.
func (f *Follower) renew() {
	now, err := os.Stat(f.path)
	if err != nil {
		return // it may come back
	}
	have, err := f.file.Stat()
	if err != nil {
		return
	}
	at, err := f.file.Seek(0, io.SeekCurrent)
	if os.SameFile(now, have) && (err != nil || now.Size() >= at) {
		return
	}
	old := f.file
	if f.open(false) == nil {
		_ = old.Close() // it was only read
	}
}

// read takes the lines that are there. Of a long one the rest is left out; one without
// its end waits for it.
func (f *Follower) read(line func(string)) {
	for {
		part, err := f.lines.ReadSlice('\n')
		ended := err == nil
		switch {
		case !f.whole: // the rest of a line that was taken
			f.whole = ended
		case ended || errors.Is(err, bufio.ErrBufferFull) || len(f.begun)+len(part) > mostLooked:
			line(f.clean(append(f.begun, part...)))
			f.begun, f.whole = nil, ended
		default:
			f.begun = append(f.begun, part...)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

func (f *Follower) clean(b []byte) string {
	return strings.ToValidUTF8(strings.TrimRight(string(f.scrub.Clean(b)), "\r\n"), "\uFFFD")
}
