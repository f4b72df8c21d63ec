package parquet

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"time"

	"rung/sinks/record"
)

const (
	partBytes = 64 << 20    // a part of more, as it lies in memory, is written
	partAge   = time.Minute // and one that was begun so long ago
)

// Identity is what every row carries: whose it is.
type Identity struct{ Experiment, RunID, Cell string }

// Writer writes a run's tables. It implements rung/sinks.Sink and, like every
// sink, is owned by one goroutine.
type Writer struct {
	requests *stream[record.Request]
	samples  *stream[record.Sample]
	events   *stream[record.Event]
	clients  *stream[record.ClientSample]
	server   *stream[record.ServerSample]
	counts   record.Counts
}

// NewWriter makes the tables' folders in dir, the folder of a run as CreateRun
// made it. It fails if the run has tables already. now is the wall clock; it
// decides only when a part is old enough to be written.
func NewWriter(dir string, id Identity, now func() time.Time) (*Writer, error) {
	w := &Writer{
		requests: &stream[record.Request]{table: requests(), root: dir, id: id, now: now},
		samples:  &stream[record.Sample]{table: samples(), root: dir, id: id, now: now},
		events:   &stream[record.Event]{table: events(), root: dir, id: id, now: now},
		clients:  &stream[record.ClientSample]{table: clients(), root: dir, id: id, now: now},
		server:   &stream[record.ServerSample]{table: server(), root: dir, id: id, now: now},
	}
	for _, name := range []string{w.requests.table.name, w.samples.table.name, w.events.table.name, w.clients.table.name, w.server.table.name} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			return nil, fmt.Errorf("make a table's folder: %w", err)
		}
	}
	return w, nil
}

// Write takes one item. An error names the part that could not be written and
// why; its rows are kept, and Close tries once more.
func (w *Writer) Write(it record.Item) error {
	switch {
	case it.Request != nil:
		w.counts.Requests++
		if it.Request.Counted {
			w.counts.Counted++
		}
		if it.Request.Failed() {
			w.counts.Failed++
		}
		return w.requests.add(*it.Request)
	case it.Sample != nil:
		w.counts.Samples++
		return w.samples.add(*it.Sample)
	case it.Event != nil:
		w.counts.Events++
		if err := w.events.add(*it.Event); err != nil {
			return err
		}
		return w.settle(it.Event.Kind)
	case it.Client != nil:
		return w.clients.add(*it.Client)
	case it.Server != nil:
		w.counts.Server++
		return w.server.add(*it.Server)
	default:
		return nil
	}
}

// settle writes all that is held once a rung, a ladder or a phase is over: from then on a
// crash takes nothing of it.
func (w *Writer) settle(kind record.EventKind) error {
	switch kind {
	case record.RungEnd, record.PhaseEnd, record.LadderEnd:
		return w.Close()
	default:
		return nil
	}
}

// Close writes what is still held. A table that fails keeps none of the others
// from being written; the error names every part that was lost.
func (w *Writer) Close() error {
	return errors.Join(w.requests.flush(), w.samples.flush(), w.events.flush(), w.clients.flush(), w.server.flush())
}

// Parts lists what was written so far, table by table in the order of writing.
func (w *Writer) Parts() []record.Part {
	var parts []record.Part
	parts = append(parts, w.requests.written...)
	parts = append(parts, w.samples.written...)
	parts = append(parts, w.events.written...)
	parts = append(parts, w.clients.written...)
	return append(parts, w.server.written...)
}

// Counts sums up the items that were taken.
func (w *Writer) Counts() record.Counts { return w.counts }

// stream is one table being written: the part that collects rows, and those
// before it that could not be written yet.
type stream[T any] struct {
	table   table[T]
	root    string // the run's folder
	id      Identity
	now     func() time.Time
	held    []*part[T] // the last one collects
	seq     int        // of the part that was begun last
	written []record.Part
}

// part is the rows of one place, before they are a file.
type part[T any] struct {
	seq   int
	group group
	items []T
	bytes int
	began time.Time
}

// add takes one row, after it has written what the row does not belong to.
func (s *stream[T]) add(item T) error {
	g := s.table.group(&item)
	now := s.now()
	var err error
	if p := s.open(); p != nil && p.group == (group{}) {
		p.group = g // what lay between two places goes with the one that follows
	}
	if p := s.open(); p != nil && (!p.group.takes(g) || p.bytes >= partBytes || now.Sub(p.began) >= partAge) {
		err = s.flush()
		if g == (group{}) {
			g = p.group
		}
		s.begin(g, now)
	} else if p == nil {
		s.begin(g, now)
	}
	p := s.open()
	p.items = append(p.items, item)
	p.bytes += s.table.size(&item)
	return err
}

func (s *stream[T]) begin(g group, now time.Time) {
	s.seq++
	s.held = append(s.held, &part[T]{seq: s.seq, group: g, began: now})
}

func (s *stream[T]) open() *part[T] {
	if len(s.held) == 0 {
		return nil
	}
	return s.held[len(s.held)-1]
}

// flush writes all that is held. What fails stays held.
func (s *stream[T]) flush() error {
	var errs []error
	var failed []*part[T]
	for _, p := range s.held {
		if err := s.write(p); err != nil {
			errs = append(errs, err)
			failed = append(failed, p)
		}
	}
	s.held = failed
	return errors.Join(errs...)
}

func (s *stream[T]) write(p *part[T]) error {
	name := fmt.Sprintf("%04d-%s.parquet", p.seq, p.group.label())
	rel := path.Join(s.table.name, name)
	n, sum, err := writeWhole(filepath.Join(s.root, s.table.name), name, func(w io.Writer) error {
		return s.table.encode(w, s.id, p.items)
	})
	if err != nil {
		return fmt.Errorf("write %s (%d rows): %w", rel, len(p.items), err)
	}
	s.written = append(s.written, record.Part{
		Path: rel, Table: s.table.name, Rows: int64(len(p.items)), Bytes: n, SHA256: sum,
	})
	return nil
}
