package main

import (
	"bytes"
	"os"
	"sync"
)

// lateWriter keeps what is written until a file is there for it: the simulated
// server answers the probe before the run has a folder.
type lateWriter struct {
	mu   sync.Mutex
	held bytes.Buffer
	file *os.File
}

func (w *lateWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file != nil {
		return w.file.Write(p)
	}
	return w.held.Write(p)
}

// open begins the file, or goes on with it where the run does.
func (w *lateWriter) open(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644) //nolint:gosec // a result to be shared, not a secret
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.file = f
	_, err = w.held.WriteTo(f)
	return err
}

func (w *lateWriter) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file == nil {
		return nil
	}
	return w.file.Close()
}
