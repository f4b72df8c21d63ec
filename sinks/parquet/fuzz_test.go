package parquet

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"rung/sinks/record"
)

// FuzzManifest reads any bytes as a manifest: an error or a manifest, and then what it
// lists is read or refused, and never outside the run's folder.
func FuzzManifest(f *testing.F) {
	dir, m, _ := seeds(f)
	b, err := json.Marshal(m)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"schema_version":2,"status":"done","parts":[{"path":"../../etc/passwd","table":"requests"}]}`))
	f.Add([]byte(`{"schema_version":1e9}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, manifestName), b, 0o644); err != nil {
			t.Fatal(err)
		}
		m, err := ReadManifest(dir)
		if err != nil {
			return
		}
		_, _ = ReadRequests(dir, m)
		_, _ = ReadEvents(dir, m)
	})
}

// FuzzPart reads any bytes as a part whose checksum is right, as one that somebody made.
func FuzzPart(f *testing.F) {
	_, m, part := seeds(f)
	b, err := os.ReadFile(part)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Fuzz(func(_ *testing.T, b []byte) {
		_, _ = scanBytes(b, requests(), ownedBy(m, func([]record.Request) {}))
	})
}

// FuzzJournal reads any bytes as a log of the journal: what its frames vouch for, or
// nothing.
func FuzzJournal(f *testing.F) {
	w, dir, m := newWriterIn(f)
	for _, it := range round(0, 0, 2) {
		if err := w.Write(it); err != nil {
			f.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			f.Fatal(err)
		}
	}
	logs, err := filepath.Glob(filepath.Join(dir, journalFolder, "*.log"))
	if err != nil || len(logs) == 0 {
		f.Fatal(logs, err)
	}
	for _, file := range logs {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
		f.Add(b[:len(b)-1])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if whole := unframe(b); len(whole) > len(b) || len(whole) > 0 && !bytes.Contains(b, whole[:min(len(whole), 8)]) {
			t.Errorf("%d bytes of a log of %d", len(whole), len(b))
		}
		_ = scanLog(b, m, requests(), func([]record.Request) {}) // an error or rows, never a crash
	})
}

// newWriterIn is newWriter for a fuzz target.
func newWriterIn(f *testing.F) (*Writer, string, record.Manifest) {
	f.Helper()
	c := &clock{begin}
	dir, id, err := CreateRun(f.TempDir(), "exp", "3fa91c00", "", c.now)
	if err != nil {
		f.Fatal(err)
	}
	w, err := NewWriter(dir, Identity{Experiment: "exp", RunID: id}, c.now)
	if err != nil {
		f.Fatal(err)
	}
	return w, dir, record.Manifest{SchemaVersion: record.SchemaVersion, Experiment: "exp", RunID: id, Status: record.Running}
}

// seeds is a run with one part, for a fuzz target.
func seeds(f *testing.F) (dir string, m record.Manifest, part string) {
	f.Helper()
	w, dir, m := newWriterIn(f)
	r := fullRequest()
	if err := w.Write(record.Item{Request: &r}); err != nil {
		f.Fatal(err)
	}
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	m.Status, m.Parts = record.Done, w.Parts()
	if err := w.End(); err != nil {
		f.Fatal(err)
	}
	return dir, m, filepath.Join(dir, m.Parts[0].Path)
}
