package serverlog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"rung/sinks/record"
	"rung/spec/plan"
)

// Bounds on what is read at once, in bytes: of a file's beginning, in which a server says
// how it is set, and of what was written since the last time. The rest is for the next.
const (
	mostHead   = 4 << 20
	mostAtOnce = 16 << 20
)

// File is the log of a server that runs already, read as it grows. It implements
// rung/runner.LogReader.
type File struct {
	path  string
	scrub plan.Scrubber
	w     *Watcher
	file  *os.File
	lines *bufio.Reader
	whole bool   // what comes next begins a line
	begun []byte // of a line whose end is not written yet
}

// Open looks at the beginning of a file for settings; Read gives what is written to it
// from then on: what was there before is of no run. A file that is replaced or made
// shorter is read from its beginning.
func Open(path string, scrub plan.Scrubber, now func() time.Time) (*File, error) {
	f := &File{path: path, scrub: scrub, w: NewWatcher(now)}
	if err := f.open(true); err != nil {
		return nil, err
	}
	return f, nil
}

// Read gives the lines since the last call that explain something, as Watcher.Read does.
func (f *File) Read() []record.Event {
	f.read(f.w.Line)
	if f.renewed() {
		f.read(f.w.Line)
	}
	return f.w.Read()
}

// Settings are those that the log says are in force.
func (f *File) Settings() []record.Setting { return f.w.Settings() }

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// open opens the file; at its end where that is wanted, its beginning having been looked
// at for settings.
func (f *File) open(atEnd bool) error {
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

// renewed opens the file anew where it was replaced or cut.
func (f *File) renewed() bool {
	now, err := os.Stat(f.path)
	if err != nil {
		return false // it may come back
	}
	have, err := f.file.Stat()
	if err != nil {
		return false
	}
	at, err := f.file.Seek(0, io.SeekCurrent)
	if os.SameFile(now, have) && (err != nil || now.Size() >= at) {
		return false
	}
	old := f.file
	if f.open(false) != nil {
		return false
	}
	_ = old.Close() // it was only read
	return true
}

// read takes the lines that are there. Of a long one the rest is left out; one without
// its end waits for it.
func (f *File) read(line func(string)) {
	for n := 0; n < mostAtOnce; {
		part, err := f.lines.ReadSlice('\n')
		n += len(part)
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

func (f *File) clean(b []byte) string {
	return strings.ToValidUTF8(strings.TrimRight(string(f.scrub.Clean(b)), "\r\n"), "\uFFFD")
}
