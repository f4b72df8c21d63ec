package proc

import (
	"strings"
	"sync"

	"rung/sinks/record"
)

// Words keeps the beginning of what a program writes to its standard error: what
// it crashed of stands before the trace.
type Words struct {
	mu  sync.Mutex
	buf []byte
}

// mostWords bounds it, in bytes.
const mostWords = 512

// Write keeps what is within the bound.
func (w *Words) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf = append(w.buf, b[:min(len(b), mostWords-len(w.buf))]...)
	return len(b), nil
}

// String is valid UTF-8 on one line.
func (w *Words) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.TrimSpace(record.OneLine(strings.ToValidUTF8(string(w.buf), "\uFFFD")))
}
