package parquet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"rung/sinks/record"
)

// The journal is a folder of a run that has not ended. It has a log for each part that is
// not written yet, one of the requests whose round has no verdict yet, and the list of the
// parts that are written.
const (
	journalFolder = "journal"
	draftsFile    = "drafts.log"
	partsFile     = "parts.jsonl"
	lockFile      = "lock"
)

// log is rows on their way into a part, as a framed Arrow stream in the journal. What was
// appended outlives the process; after a sync, the machine too.
type log[T any] struct {
	table   table[T]
	id      Identity
	file    *os.File
	buf     *bytes.Buffer // the frame that is being made
	ipc     *ipc.Writer
	builder *array.RecordBuilder
	dirty   bool // written to since the last sync
}

func openLog[T any](t table[T], id Identity, file string) (*log[T], error) {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	schema, buf := t.schema(), &bytes.Buffer{}
	return &log[T]{table: t, id: id, file: f, buf: buf, ipc: ipc.NewWriter(buf, ipc.WithSchema(schema)),
		builder: array.NewRecordBuilder(memory.DefaultAllocator, schema)}, nil
}

// append writes rows as one batch, whole or, where the disk is full, not to be read.
func (l *log[T]) append(items []T) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("encoding: %v", p)
		}
		if err != nil {
			err = fmt.Errorf("write %s (%d rows): %w", l.file.Name(), len(items), err)
		}
	}()
	rec := l.table.build(l.builder, l.id, items)
	defer rec.Release()
	l.buf.Reset()
	l.buf.Write(make([]byte, frameHead))
	if err := l.ipc.Write(rec); err != nil {
		return err
	}
	l.dirty = true
	_, err = l.file.Write(frame(l.buf.Bytes()))
	return err
}

// sync makes durable what was appended.
func (l *log[T]) sync() error {
	if l == nil || !l.dirty {
		return nil
	}
	l.dirty = false
	return l.file.Sync()
}

// remove drops the log: its rows are elsewhere.
func (l *log[T]) remove() error {
	if l == nil {
		return nil
	}
	l.builder.Release()
	return errors.Join(l.file.Close(), os.Remove(l.file.Name()))
}

// drafts are the requests whose round has no verdict yet.
type drafts struct {
	log     *log[record.Request] // nil: none is on disk
	pending []record.Request     // not yet on disk
	open    int                  // whose rows have not come
	make    func() (*log[record.Request], error)
}

func (d *drafts) add(item record.Request) {
	d.pending = append(d.pending, item)
	d.open++
}

// judged says that the row of a draft has come.
func (d *drafts) judged() {
	d.open = max(0, d.open-1)
	if d.open == 0 {
		d.pending = nil
	}
}

// flush writes the drafts that are new, and drops all once none is open: their rows are
// in the part's log by then.
func (d *drafts) flush() (err error) {
	if d.open == 0 {
		old := d.log
		d.log = nil
		return old.remove()
	}
	if len(d.pending) == 0 {
		return nil
	}
	if d.log == nil {
		if d.log, err = d.make(); err != nil {
			return err
		}
	}
	if err := d.log.append(d.pending); err != nil {
		return err
	}
	d.pending = nil
	return nil
}

// partsIndex lists the parts that are written, a line each.
type partsIndex struct{ file *os.File }

func openIndex(dir string) (*partsIndex, error) {
	f, err := os.OpenFile(filepath.Join(dir, journalFolder, partsFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return &partsIndex{f}, nil
}

func (p *partsIndex) add(part record.Part) error {
	b, err := json.Marshal(part)
	if err != nil {
		return err
	}
	if _, err := p.file.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return nil
}
