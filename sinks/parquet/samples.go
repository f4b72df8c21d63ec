package parquet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"rung/sinks/record"
)

// SampleWriter writes the table gpu alone: of samples without a run, or of such as are
// added to one.
type SampleWriter struct {
	w       *Writer
	flushed time.Time
}

// NewSampleWriter writes into dir, a run's folder, beside the parts that are there. now
// is the wall clock; it decides only when a part is old enough to be written.
func NewSampleWriter(dir string, id Identity, now func() time.Time) (*SampleWriter, error) {
	w := emptyWriter(dir, id, now)
	name := w.samples.table.name
	if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make a table's folder: %w", err)
	}
	there, err := onDisk(dir, name)
	for _, p := range there {
		w.samples.seq = max(w.samples.seq, seqOf(p.Path))
	}
	return &SampleWriter{w: w}, err
}

// NewRecording is a SampleWriter of samples that nobody could take again: what is in no
// part yet is in a journal.
func NewRecording(dir string, id Identity, now func() time.Time) (*SampleWriter, error) {
	s, err := NewSampleWriter(dir, id, now)
	if err != nil {
		return nil, err
	}
	if err := s.w.startJournal(); err != nil {
		return nil, err
	}
	return s, s.w.openIndex()
}

// flushEvery is how much of a recording a crash may take.
const flushEvery = 100 * time.Millisecond

// Write takes one sample. An error names the part that could not be written; its rows
// are kept, and Close tries once more.
func (s *SampleWriter) Write(sample record.Sample) error {
	if err := s.w.samples.add(sample); err != nil || s.w.index == nil {
		return err
	}
	if now := s.w.now(); now.Sub(s.flushed).Abs() >= flushEvery {
		s.flushed = now
		return s.w.Flush()
	}
	return nil
}

// Close writes what is still held.
func (s *SampleWriter) Close() error { return s.w.samples.flush() }

// End drops a recording's journal, once the manifest lists its parts.
func (s *SampleWriter) End() error { return s.w.End() }

// Parts lists what was written.
func (s *SampleWriter) Parts() []record.Part { return s.w.samples.written }

// ReadSampleFile reads one part of a gpu table, of whatever run. Its sum is the
// SHA-256 of its bytes, in hex.
func ReadSampleFile(file string) (items []record.Sample, sum string, err error) {
	b, err := readBounded(file, maxPartBytes)
	if err != nil {
		return nil, "", err
	}
	_, err = scanBytes(b, samples(), func(rows *batch[record.Sample]) error {
		items = append(items, rows.items...)
		return nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", file, err)
	}
	return items, sumOf(b), nil
}

// IsParquet says whether a file begins as a Parquet file does.
func IsParquet(head []byte) bool { return len(head) >= 4 && string(head[:4]) == "PAR1" }

// SampleTable is the name of the folder, and of the table, that samples lie in.
const SampleTable = "gpu"
