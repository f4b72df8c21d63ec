package parquet

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"rung/sinks/record"
)

// ErrBusy says that another process writes to a run.
var ErrBusy = errors.New("another rung is writing to this run: wait until it ends")

// Busy says that a process is writing to the run in dir.
func Busy(dir string) error {
	file := filepath.Join(dir, journalFolder, lockFile)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	unlock, err := takeLock(file)
	if err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return unlock()
}

// HasJournal says that the run in dir kept a journal, and it is still there.
func HasJournal(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, journalFolder, partsFile))
	return err == nil
}

// Unfinished says that the run in dir did not end in order: it runs still, was killed,
// or could not be written to its end. The readers then take what lies in its folders and
// in its journal, and a report must say so.
func Unfinished(dir string, m record.Manifest) bool {
	logs, _ := filepath.Glob(filepath.Join(dir, journalFolder, "*.log"))
	return m.Status == record.Running || len(logs) > 0
}

// leftover is a log in the journal of a run.
type leftover struct {
	file string
	seq  int // of the part that it was to become
	body []byte
}

// leftovers reads the logs of a table. They are read before the parts are listed: a run
// that goes on writes a part first and drops its log then.
func leftovers(dir, table string) ([]leftover, error) {
	files, err := filepath.Glob(filepath.Join(dir, journalFolder, table+"-*.log"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var out []leftover
	for _, file := range files {
		b, err := readBounded(file, maxPartBytes)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it has become a part meanwhile
		}
		if err != nil {
			return nil, err
		}
		out = append(out, leftover{file: file, seq: seqOf(strings.TrimPrefix(filepath.Base(file), table+"-")), body: b})
	}
	return out, nil
}

// listed are the parts that a run which has not ended is known to have written: those of
// its manifest, of its journal's list, and those that lie in a table's folder besides. A
// part of the last kind that has its log still gives way to it, since that can be checked.
func listed(dir string, m record.Manifest, table string, logs []leftover) ([]record.Part, error) {
	known := slices.Clone(m.Parts)
	more, err := readIndex(dir)
	if err != nil {
		return nil, err
	}
	known = append(known, more...)
	var parts []record.Part
	seen := map[string]bool{}
	for _, p := range known {
		if p.Table == table && !seen[p.Path] {
			seen[p.Path] = true
			parts = append(parts, p)
		}
	}
	lying, err := onDisk(dir, table)
	if err != nil {
		return nil, err
	}
	for _, p := range lying {
		logged := slices.ContainsFunc(logs, func(l leftover) bool { return l.seq == seqOf(p.Path) })
		if !seen[p.Path] && !logged {
			parts = append(parts, p)
		}
	}
	slices.SortStableFunc(parts, func(a, b record.Part) int { return strings.Compare(a.Path, b.Path) })
	return parts, nil
}

// readIndex reads the journal's list of parts. A line that was cut is the last one.
func readIndex(dir string) ([]record.Part, error) {
	b, err := readBounded(filepath.Join(dir, journalFolder, partsFile), maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var parts []record.Part
	for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
		var p record.Part
		if json.Unmarshal(s.Bytes(), &p) != nil {
			return parts, nil //nolint:nilerr // the line that was being written
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// onDisk lists the whole parts of a table: the ones under their own names.
func onDisk(dir, table string) ([]record.Part, error) {
	entries, err := os.ReadDir(filepath.Join(dir, table))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the parts of a run that has not ended: %w", err)
	}
	var parts []record.Part
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".parquet") && !strings.HasPrefix(name, ".") {
			parts = append(parts, record.Part{Path: path.Join(table, name), Table: table})
		}
	}
	return parts, nil
}
