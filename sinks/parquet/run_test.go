package parquet

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"rung/sinks/record"
)

func TestCreateRunIsExclusive(t *testing.T) {
	root := t.TempDir()
	const n = 8
	var wg sync.WaitGroup
	ids := make([]string, n)
	for i := range n {
		wg.Go(func() {
			_, id, err := CreateRun(root, "exp", "3fa91c77", "max=8", (&clock{begin}).now)
			if err != nil {
				t.Error(err)
			}
			ids[i] = id
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, id := range ids {
		if seen[id] || !strings.HasSuffix(id, "Z-3fa91c-max-8") || !strings.HasPrefix(id, "20261130T0817") {
			t.Errorf("run %q is taken twice or named wrong", id)
		}
		seen[id] = true
	}
	if !seen["20261130T081751Z-3fa91c-max-8"] {
		t.Errorf("no run has the start's own second: %v", ids)
	}
}

func TestCreateRunRefusesNames(t *testing.T) {
	for _, name := range []string{"", "..", "a/b", "a b", strings.Repeat("x", 80)} {
		if _, _, err := CreateRun(t.TempDir(), name, "3fa91c", "", (&clock{begin}).now); err == nil {
			t.Errorf("experiment %q makes a folder, want an error", name)
		}
	}
	if _, _, err := CreateRun(t.TempDir(), "exp", "3fa", "", (&clock{begin}).now); err == nil {
		t.Error("a hash of three digits, want an error")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := CreateRun(file, "exp", "3fa91c", "", (&clock{begin}).now); err == nil {
		t.Error("a file as the root, want an error")
	}
}

func TestManifestOfANewerSchema(t *testing.T) {
	dir := t.TempDir()
	if err := WriteManifest(dir, record.Manifest{SchemaVersion: record.SchemaVersion + 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadManifest(dir); err == nil || !strings.Contains(err.Error(), "newer rung") {
		t.Errorf("error %v, want the way out", err)
	}
	if _, err := ReadManifest(t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a run's folder") {
		t.Errorf("error %v, want that it is no run's folder", err)
	}
}
