package parquet

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"rung/sinks/record"
)

// SampleWriter writes the table gpu alone: of samples without a run, or of such as are
// added to one.
type SampleWriter struct{ s *stream[record.Sample] }

// NewSampleWriter writes into dir, a run's folder, beside the parts that are there. now
// is the wall clock; it decides only when a part is old enough to be written.
func NewSampleWriter(dir string, id Identity, now func() time.Time) (*SampleWriter, error) {
	s := &stream[record.Sample]{table: samples(), root: dir, id: id, now: now}
	if err := os.Mkdir(filepath.Join(dir, s.table.name), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make a table's folder: %w", err)
	}
	there, err := onDisk(dir, s.table.name)
	for _, p := range there {
		var n int
		if _, err := fmt.Sscanf(path.Base(p.Path), "%d-", &n); err == nil {
			s.seq = max(s.seq, n)
		}
	}
	return &SampleWriter{s}, err
}

// Write takes one sample. An error names the part that could not be written; its rows
// are kept, and Close tries once more.
func (w *SampleWriter) Write(s record.Sample) error { return w.s.add(s) }

// Close writes what is still held.
func (w *SampleWriter) Close() error { return w.s.flush() }

// Parts lists what was written.
func (w *SampleWriter) Parts() []record.Part { return w.s.written }

// ReadSampleFile reads one part of a gpu table, of whatever run. Its sum is the
// SHA-256 of its bytes, in hex.
func ReadSampleFile(file string) (items []record.Sample, sum string, err error) {
	b, err := readBounded(file, maxPartBytes)
	if err != nil {
		return nil, "", err
	}
	defer func() {
		if r := recover(); r != nil {
			items, err = nil, fmt.Errorf("%s: damaged: %v", file, r)
		}
	}()
	items, _, err = decodeRows(b, samples())
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", file, err)
	}
	digest := sha256.Sum256(b)
	return items, hex.EncodeToString(digest[:]), nil
}

// IsParquet says whether a file begins as a Parquet file does.
func IsParquet(head []byte) bool { return len(head) >= 4 && string(head[:4]) == "PAR1" }

// SampleTable is the name of the folder, and of the table, that samples lie in.
const SampleTable = "gpu"
