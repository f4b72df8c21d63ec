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
	dir      string
	now      func() time.Time
	requests *stream[record.Request]
	samples  *stream[record.Sample]
	events   *stream[record.Event]
	clients  *stream[record.ClientSample]
	server   *stream[record.ServerSample]
	drafts   drafts
	counts   record.Counts

	index  *partsIndex // nil: without a journal
	synced time.Time
	unlock func() error
}

// NewWriter makes the tables' folders in dir, the folder of a run as CreateRun
// made it, and its journal. It fails if the run has tables already. now is the wall
// clock; it decides only when a part is old enough to be written.
func NewWriter(dir string, id Identity, now func() time.Time) (*Writer, error) {
	w := emptyWriter(dir, id, now)
	for _, s := range w.streams() {
		if err := os.Mkdir(filepath.Join(dir, s.name()), 0o755); err != nil {
			return nil, fmt.Errorf("make a table's folder: %w", err)
		}
	}
	if err := w.startJournal(); err != nil {
		return nil, err
	}
	return w, w.openIndex()
}

// tabled is a stream of whatever table.
type tabled interface {
	name() string
	journal() error
	sync() error
	flush() error
	holds() bool
	parts() []record.Part
}

// streams are all tables. The requests come first: the end of a round, an event, must not
// be anywhere without them.
func (w *Writer) streams() []tabled {
	return []tabled{w.requests, w.samples, w.events, w.clients, w.server}
}

func emptyWriter(dir string, id Identity, now func() time.Time) *Writer {
	w := &Writer{dir: dir, now: now}
	w.requests = newStream(w, requests(), id)
	w.requests.whole = true
	w.samples = newStream(w, samples(), id)
	w.events = newStream(w, events(), id)
	w.clients = newStream(w, clients(), id)
	w.server = newStream(w, server(), id)
	w.drafts.make = func() (*log[record.Request], error) {
		return openLog(w.requests.table, id, filepath.Join(dir, journalFolder, draftsFile))
	}
	return w
}

// startJournal makes the journal's folder and keeps other processes out of the run.
func (w *Writer) startJournal() error {
	folder := filepath.Join(w.dir, journalFolder)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	unlock, err := takeLock(filepath.Join(folder, lockFile))
	if err != nil {
		return fmt.Errorf("%s: %w", w.dir, err)
	}
	w.unlock = unlock
	return nil
}

func (w *Writer) openIndex() (err error) {
	w.index, err = openIndex(w.dir)
	return err
}

// release lets other processes at the run.
func (w *Writer) release() error {
	var err error
	if w.index != nil {
		err = w.index.file.Close()
	}
	return errors.Join(err, w.unlock())
}

// End drops the journal, once the manifest lists all parts. Where rows could not be made
// parts, the journal is all that has them, and stays.
func (w *Writer) End() error {
	err := w.release()
	for _, s := range w.streams() {
		if s.holds() {
			return err
		}
	}
	return errors.Join(err, os.RemoveAll(filepath.Join(w.dir, journalFolder)))
}

// Write takes one item. An error names the part that could not be written and
// why; its rows are kept, and Close tries once more.
func (w *Writer) Write(it record.Item) error {
	switch {
	case it.Draft != nil:
		w.drafts.add(*it.Draft)
		return nil
	case it.Request != nil:
		w.count(it.Request)
		w.drafts.judged()
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

func (w *Writer) count(r *record.Request) {
	w.counts.Requests++
	if r.Counted {
		w.counts.Counted++
	}
	if r.Failed() {
		w.counts.Failed++
	}
}

// syncEvery is how often the journal is made durable, for the machine's sake: what was
// appended to it outlives the process as it is.
const syncEvery = time.Second

// Flush appends what came since to the journal. From then on a crash takes nothing of it.
func (w *Writer) Flush() error {
	for _, s := range w.streams() {
		if err := s.journal(); err != nil {
			return err // and those behind it are left as they are
		}
	}
	if err := w.drafts.flush(); err != nil { // after the rows that they have become
		return err
	}
	if now := w.now(); now.Sub(w.synced).Abs() >= syncEvery {
		w.synced = now
		errs := []error{w.drafts.log.sync()}
		for _, s := range w.streams() {
			errs = append(errs, s.sync())
		}
		return errors.Join(errs...)
	}
	return nil
}

// settle writes all that is held once a rung, a ladder or a phase is over, and requests
// that have been held for long once a round is: no part ends within one, so that none has
// rows of a round whose verdict is lost.
func (w *Writer) settle(kind record.EventKind) error {
	switch kind {
	case record.RoundEnd:
		return w.requests.roll()
	case record.RungEnd, record.PhaseEnd, record.LadderEnd:
		return w.Close()
	default:
		return nil
	}
}

// Close writes what is still held. A table that fails keeps none of the others
// from being written; the error names every part that was lost.
func (w *Writer) Close() error {
	var errs []error
	for _, s := range w.streams() {
		errs = append(errs, s.flush())
	}
	return errors.Join(errs...)
}

// Parts lists what was written so far, table by table in the order of writing.
func (w *Writer) Parts() []record.Part {
	var parts []record.Part
	for _, s := range w.streams() {
		parts = append(parts, s.parts()...)
	}
	return parts
}

// Counts sums up the items that were taken.
func (w *Writer) Counts() record.Counts { return w.counts }

// stream is one table being written: the part that collects rows, and those
// before it that could not be written yet.
type stream[T any] struct {
	w       *Writer
	table   table[T]
	root    string // the run's folder
	id      Identity
	now     func() time.Time
	whole   bool       // rows come in rounds, which are not to be parted
	held    []*part[T] // the last one collects
	seq     int        // of the part that was begun last
	written []record.Part
}

func newStream[T any](w *Writer, t table[T], id Identity) *stream[T] {
	return &stream[T]{w: w, table: t, root: w.dir, id: id, now: w.now}
}

func (s *stream[T]) name() string { return s.table.name }

func (s *stream[T]) holds() bool { return len(s.held) > 0 }

func (s *stream[T]) parts() []record.Part { return s.written }

// part is the rows of one place, before they are a file.
type part[T any] struct {
	seq    int
	group  group
	items  []T
	bytes  int
	began  time.Time
	log    *log[T] // nil: none of it is in the journal
	logged int     // rows that are
}

// partName is the file of a part.
func partName(seq int, g group) string { return fmt.Sprintf("%04d-%s.parquet", seq, g.label()) }

// add takes one row, after it has written what the row does not belong to.
func (s *stream[T]) add(item T) error {
	g := s.table.group(&item)
	now := s.now()
	var err error
	p := s.open()
	if p != nil && p.group == (group{}) {
		p.group = g // what lay between two places goes with the one that follows
	}
	switch {
	case p == nil:
		s.begin(g, now)
	case !p.group.takes(g), !s.whole && s.due(p, now):
		err = s.flush()
		if g == (group{}) {
			g = p.group
		}
		s.begin(g, now)
	}
	p = s.open()
	p.items = append(p.items, item)
	p.bytes += s.table.size(&item)
	return err
}

// due says that a part is large or old enough to be written.
func (s *stream[T]) due(p *part[T], now time.Time) bool {
	return p.bytes >= partBytes || now.Sub(p.began) >= partAge
}

// roll writes the part that is due.
func (s *stream[T]) roll() error {
	if p := s.open(); p != nil && s.due(p, s.now()) {
		return s.flush()
	}
	return nil
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

// journal appends the rows that are not in the journal yet.
func (s *stream[T]) journal() error {
	for _, p := range s.held {
		if p.logged == len(p.items) {
			continue
		}
		if p.log == nil {
			l, err := openLog(s.table, s.id, filepath.Join(s.root, journalFolder, fmt.Sprintf("%s-%04d.log", s.table.name, p.seq)))
			if err != nil {
				return err
			}
			p.log = l
		}
		if err := p.log.append(p.items[p.logged:]); err != nil {
			return err
		}
		p.logged = len(p.items)
	}
	return nil
}

func (s *stream[T]) sync() error {
	for _, p := range s.held {
		if err := p.log.sync(); err != nil {
			return err
		}
	}
	return nil
}

// flush writes all that is held. What fails stays held. The journal has all rows of all
// tables before: a part must not have a round whose verdict is nowhere yet.
func (s *stream[T]) flush() error {
	if len(s.held) == 0 {
		return nil
	}
	var errs []error
	if s.w.index != nil {
		errs = append(errs, s.w.Flush())
	}
	var failed []*part[T]
	for _, p := range s.held {
		written, err := s.writePart(partName(p.seq, p.group), p.items)
		if err != nil {
			failed = append(failed, p)
			errs = append(errs, err)
			continue
		}
		if s.w.index != nil {
			errs = append(errs, s.w.index.add(written), p.log.remove())
		}
	}
	s.held = failed
	return errors.Join(errs...)
}

func (s *stream[T]) writePart(name string, items []T) (record.Part, error) {
	rel := path.Join(s.table.name, name)
	n, sum, err := writeWhole(filepath.Join(s.root, s.table.name), name, func(w io.Writer) error {
		return s.table.encode(w, s.id, items)
	})
	if err != nil {
		return record.Part{}, fmt.Errorf("write %s (%d rows): %w", rel, len(items), err)
	}
	p := record.Part{Path: rel, Table: s.table.name, Rows: int64(len(items)), Bytes: n, SHA256: sum}
	s.written = append(s.written, p)
	return p, nil
}
