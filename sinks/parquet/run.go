package parquet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"rung/sinks/record"
)

const (
	manifestName = "manifest.json"
	stampLayout  = "20060102T150405Z"
	maxManifest  = 64 << 20
	maxTaken     = 3600 // seconds that may be taken by other runs
)

// CreateRun makes the folder <root>/<experiment>/<UTC start>-<6 digits of the
// spec hash>[-<cell>] and returns it and its name. The folder is new: if another
// run has the name, the next second's is tried; nothing is ever overwritten.
func CreateRun(root, experiment, specHash, cell string, now func() time.Time) (dir, runID string, err error) {
	if experiment != fileName(experiment) || experiment == "" {
		return "", "", fmt.Errorf("experiment %q cannot name a folder: use letters, digits, '-', '_' and '.'", experiment)
	}
	if len(specHash) < 6 {
		return "", "", fmt.Errorf("spec hash %q is too short to name a run", specHash)
	}
	parent := filepath.Join(root, experiment)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", "", fmt.Errorf("make the experiment's folder: %w", err)
	}
	tail := "-" + fileName(specHash[:6])
	if cell != "" {
		tail += "-" + fileName(cell)
	}
	begin := now().UTC().Truncate(time.Second)
	for i := range maxTaken {
		runID = begin.Add(time.Duration(i)*time.Second).Format(stampLayout) + tail
		dir = filepath.Join(parent, runID)
		err = os.Mkdir(dir, 0o755)
		if err == nil {
			return dir, runID, syncDir(parent)
		}
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return "", "", fmt.Errorf("make the run's folder: %w", err)
}

// WriteManifest writes dir/manifest.json, whole or not at all, in place of an
// earlier one.
func WriteManifest(dir string, m record.Manifest) error {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	_, _, err = writeWhole(dir, manifestName, func(w io.Writer) error {
		_, err := w.Write(append(b, '\n'))
		return err
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Join(dir, manifestName), err)
	}
	return nil
}

// ReadManifest reads dir/manifest.json. A run of a newer schema is an error:
// what its columns mean is not known here.
func ReadManifest(dir string) (record.Manifest, error) {
	var m record.Manifest
	file := filepath.Join(dir, manifestName)
	b, err := readBounded(file, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("%s is not a run's folder, it has no %s: %w", dir, manifestName, err)
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(bytes.TrimSpace(b), &m); err != nil {
		return m, fmt.Errorf("%s: %w", file, err)
	}
	if m.SchemaVersion < 1 || m.SchemaVersion > record.SchemaVersion {
		return m, fmt.Errorf("%s: schema version %d, and this rung reads up to %d: use a newer rung", file, m.SchemaVersion, record.SchemaVersion)
	}
	return m, nil
}

// readBounded reads a file of at most so many bytes.
func readBounded(file string, most int64) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read from
	var b bytes.Buffer
	if info, err := f.Stat(); err == nil { // else it grows as it is read
		b.Grow(int(min(info.Size(), most)) + bytes.MinRead)
	}
	if _, err := b.ReadFrom(io.LimitReader(f, most+1)); err != nil {
		return nil, err
	}
	if int64(b.Len()) > most {
		return nil, fmt.Errorf("%s is longer than %d bytes", file, most)
	}
	return b.Bytes(), nil
}
