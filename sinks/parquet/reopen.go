package parquet

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"rung/sinks/record"
)

// Reopen takes up the run in dir, whose manifest is m, that stopped before its end. What
// lay in its journal becomes parts, requests of a round without verdict count nowhere,
// and the Writer goes on behind them. It fails where another process writes to the run.
func Reopen(dir string, m record.Manifest, now func() time.Time) (*Writer, error) {
	w := emptyWriter(dir, Identity{Experiment: m.Experiment, RunID: m.RunID, Cell: m.Cell}, now)
	if err := w.startJournal(); err != nil {
		return nil, err
	}
	m.Status = record.Running // so that the journal is read too
	if err := w.takeUp(m); err != nil {
		return nil, errors.Join(err, w.release())
	}
	return w, nil
}

func (w *Writer) takeUp(m record.Manifest) error {
	rows, err := ReadRequests(w.dir, m) // with its drafts
	if err != nil {
		return err
	}
	events, err := ReadEvents(w.dir, m)
	if err != nil {
		return err
	}
	judged := record.Judged(rows, events)
	void := func(rows []record.Request) { record.Void(rows, judged) }
	if err := errors.Join(takeUp(w.requests, m, void), takeUp(w.samples, m, nil), takeUp(w.events, m, nil),
		takeUp(w.clients, m, nil), takeUp(w.server, m, nil)); err != nil {
		return err
	}
	if err := w.keepDrafts(rows); err != nil {
		return err
	}
	w.recount(rows)
	return w.rewriteIndex()
}

// takeUp takes up one table: the parts that are there, and those that its logs were to
// become. change, where it is set, is done to the rows of the logs.
func takeUp[T any](s *stream[T], m record.Manifest, change func([]T)) error {
	logs, err := leftovers(s.root, s.table.name)
	if err != nil {
		return err
	}
	parts, err := listed(s.root, m, s.table.name, logs)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if p, err = sealed(s.root, p, m, s.table); err != nil {
			return err
		}
		s.seq, s.written = max(s.seq, seqOf(p.Path)), append(s.written, p)
	}
	for _, l := range logs {
		if slices.ContainsFunc(parts, func(p record.Part) bool { return seqOf(p.Path) == l.seq }) {
			continue // it has become a part
		}
		var items []T
		if err := scan(source{file: l.file, log: &l}, m, s.table, func(rows []T) { items = append(items, rows...) }); err != nil {
			return err
		}
		if change != nil {
			change(items)
		}
		s.seq = max(s.seq, l.seq)
		if len(items) == 0 {
			continue
		}
		if _, err := s.writePart(partName(l.seq, s.table.groupOf(items)), items); err != nil {
			return err
		}
	}
	for _, l := range logs {
		if err := os.Remove(l.file); err != nil {
			return err
		}
	}
	return s.sweep()
}

// sealed fills in the size, the rows and the SHA-256 of a part that no list has.
func sealed[T any](dir string, p record.Part, m record.Manifest, t table[T]) (record.Part, error) {
	if p.SHA256 != "" {
		return p, nil
	}
	name := filepath.Join(dir, filepath.FromSlash(p.Path))
	b, err := readBounded(name, maxPartBytes)
	if err != nil {
		return p, err
	}
	n, err := scanBytes(b, t, ownedBy(m, func([]T) {}))
	if err != nil {
		return p, fmt.Errorf("%s: %w; %s", name, err, wayOut)
	}
	p.Rows, p.Bytes, p.SHA256 = n, int64(len(b)), sumOf(b)
	return p, nil
}

// sweep removes files that were being written.
func (s *stream[T]) sweep() error {
	files, err := filepath.Glob(filepath.Join(s.root, s.table.name, ".*.tmp"))
	for _, f := range files {
		err = errors.Join(err, os.Remove(f))
	}
	return err
}

// groupOf is that of a part of these rows.
func (t table[T]) groupOf(items []T) group {
	for i := range items {
		if g := t.group(&items[i]); g != (group{}) {
			return g
		}
	}
	return group{}
}

// seqOf is the number that a part's name begins with.
func seqOf(name string) int {
	n := 0
	if _, err := fmt.Sscanf(path.Base(name), "%d", &n); err != nil {
		return 0
	}
	return n
}

// keepDrafts makes the requests of a round without verdict, that are in no part, one.
func (w *Writer) keepDrafts(rows []record.Request) error {
	written := int64(0)
	for _, p := range w.requests.written {
		written += p.Rows
	}
	if drafts := rows[written:]; len(drafts) > 0 {
		w.requests.seq++
		if _, err := w.requests.writePart(fmt.Sprintf("%04d-unfinished.parquet", w.requests.seq), slices.Clone(drafts)); err != nil {
			return err
		}
	}
	if err := os.Remove(filepath.Join(w.dir, journalFolder, draftsFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// recount sums up what is there already.
func (w *Writer) recount(rows []record.Request) {
	for i := range rows {
		w.count(&rows[i])
	}
	for _, p := range w.Parts() {
		switch p.Table {
		case w.samples.table.name:
			w.counts.Samples += p.Rows
		case w.events.table.name:
			w.counts.Events += p.Rows
		case w.server.table.name:
			w.counts.Server += p.Rows
		}
	}
}

// rewriteIndex makes the journal's list that of the parts that were taken up.
func (w *Writer) rewriteIndex() error {
	_, _, err := writeWhole(filepath.Join(w.dir, journalFolder), partsFile, func(to io.Writer) error {
		enc := json.NewEncoder(to)
		for _, p := range w.Parts() {
			if err := enc.Encode(p); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return w.openIndex()
}
