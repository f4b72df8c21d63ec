package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"rung/sinks/record"
)

const (
	maxPartBytes = 1 << 30
	maxPartRows  = 8 << 20 // the writer's parts have far fewer; a bound on what a false header can claim
	batchRows    = 2 << 10 // rows that are decoded at once

	wayOut = "restore the file from a copy or run the experiment again; the run's other parts are as they were"
)

// source is one file that rows of a table lie in: a part, or a log of the journal that has
// not become one.
type source struct {
	file   string
	part   record.Part // of a part
	listed bool        // the part is held against what a list says of it
	log    *leftover   // nil: it is a part
}

// sources are the files of a table in the order of writing. Of a run that has not ended in
// order, parts that no list has are read as they are, and then what lies in the journal.
func sources(dir string, m record.Manifest, table string) ([]source, error) {
	parts, logs, unfinished := m.Parts, []leftover(nil), Unfinished(dir, m)
	if unfinished {
		var err error
		if logs, err = leftovers(dir, table); err != nil {
			return nil, err
		}
		if parts, err = listed(dir, m, table, logs); err != nil {
			return nil, err
		}
	}
	var out []source
	for _, p := range parts {
		if p.Table == table {
			name := filepath.FromSlash(p.Path)
			if !filepath.IsLocal(name) {
				return nil, fmt.Errorf("%s: the manifest names a file outside the run's folder; %s", filepath.Join(dir, name), wayOut)
			}
			out = append(out, source{file: filepath.Join(dir, name), part: p, listed: !unfinished || p.SHA256 != ""})
		}
	}
	for _, l := range logs {
		if !slices.ContainsFunc(parts, func(p record.Part) bool { return seqOf(p.Path) == l.seq }) { // else it has become a part
			out = append(out, source{file: l.file, log: &l})
		}
	}
	return out, nil
}

// scan gives the rows of one file, some at a time; a slice is good until the next. A part's
// size and SHA-256 are those of the manifest before it is opened, its row count after, and
// each row is of the run. A log is read up to where it was cut.
func scan[T any](s source, m record.Manifest, t table[T], yield func([]T)) error {
	if s.log != nil {
		if err := scanLog(s.log.body, m, t, yield); err != nil {
			return fmt.Errorf("%s: %w; delete it to go without its rows", s.file, err)
		}
		return nil
	}
	if err := s.scanPart(func(b []byte) (int64, error) { return scanBytes(b, t, ownedBy(m, yield)) }); err != nil {
		return fmt.Errorf("%s: %w; %s", s.file, err, wayOut)
	}
	return nil
}

// scanPart holds a part against the list, before and after it is decoded.
func (s source) scanPart(decode func([]byte) (int64, error)) error {
	b, err := readBounded(s.file, maxPartBytes)
	if err != nil {
		return err
	}
	if s.listed {
		if int64(len(b)) != s.part.Bytes {
			return fmt.Errorf("%d bytes, and the manifest says %d: cut or altered", len(b), s.part.Bytes)
		}
		if sumOf(b) != s.part.SHA256 {
			return errors.New("its SHA-256 is not the manifest's: altered")
		}
	}
	n, err := decode(b)
	if err != nil {
		return err
	}
	if s.listed && n != s.part.Rows {
		return fmt.Errorf("%d rows, and the manifest says %d", n, s.part.Rows)
	}
	return nil
}

// batch is the rows that are decoded at once; its memory is used again and again.
type batch[T any] struct {
	items []T
	rows  []row[T]
}

func (b *batch[T]) reset(n int) {
	if cap(b.items) < n {
		b.items, b.rows = make([]T, n), make([]row[T], n)
	}
	b.items, b.rows = b.items[:n], b.rows[:n]
	clear(b.items)
	for i := range b.rows {
		b.rows[i] = row[T]{v: &b.items[i]}
	}
}

// ownedBy lets rows of a run through, and no others.
func ownedBy[T any](m record.Manifest, yield func([]T)) func(*batch[T]) error {
	return func(b *batch[T]) error {
		for i := range b.rows {
			if id := b.rows[i].id.RunID; id != m.RunID {
				return fmt.Errorf("row %d is of run %q, not %q", i, id, m.RunID)
			}
		}
		yield(b.items)
		return nil
	}
}

// scanBytes decodes one Parquet file, whatever its bytes are, in this goroutine: a damaged
// page can panic, and a panic elsewhere could not be caught. n is how many rows it has.
func scanBytes[T any](b []byte, t table[T], take func(*batch[T]) error) (n int64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("damaged: %v", r)
		}
	}()
	pf, err := file.NewParquetReader(bytes.NewReader(b))
	if err != nil {
		return 0, fmt.Errorf("not a Parquet file: %w", err)
	}
	defer pf.Close() //nolint:errcheck // in memory
	if pf.NumRows() < 0 || pf.NumRows() > maxPartRows {
		return 0, fmt.Errorf("claims %d rows", pf.NumRows())
	}
	props := pqarrow.ArrowReadProperties{BatchSize: batchRows}
	leaves := leavesOf(pf, t, &props)
	if len(leaves) == 0 {
		return 0, errors.New("it has none of the table's columns")
	}
	fr, err := pqarrow.NewFileReader(pf, props, &recycler{})
	if err != nil {
		return 0, err
	}
	rr, err := fr.GetRecordReader(context.Background(), leaves, nil)
	if err != nil {
		return 0, err
	}
	defer rr.Release()
	if n, err = scanRecords(rr, t, take); err != nil {
		return n, err
	}
	if n != pf.NumRows() {
		return n, fmt.Errorf("%d rows, and the file claims %d", n, pf.NumRows())
	}
	return n, nil
}

// leavesOf are the numbers of a file's leaves that belong to columns which are read and have
// something in them. Texts that come again and again are left in their dictionaries.
func leavesOf[T any](pf *file.Reader, t table[T], props *pqarrow.ArrowReadProperties) []int {
	var out []int
	schema := pf.MetaData().Schema
	for i := range schema.NumColumns() {
		name := schema.ColumnRoot(i).Name()
		at := slices.IndexFunc(t.columns, func(c column[T]) bool { return c.read != nil && c.name == name })
		if at < 0 || name != runColumn && empty(pf, i) {
			continue
		}
		out = append(out, i)
		if c := t.columns[at]; c.repeats && c.typ.ID() == arrow.STRING {
			props.SetReadDict(i, true)
		}
	}
	return out
}

// empty says that a leaf is null in all rows, as many are for a server of embeddings: by the
// file's own count, which is as good as its pages.
func empty(pf *file.Reader, leaf int) bool {
	for g := range pf.NumRowGroups() {
		chunk, err := pf.MetaData().RowGroup(g).ColumnChunk(leaf)
		if err != nil {
			return false
		}
		stats, err := chunk.Statistics()
		if err != nil || stats == nil || !stats.HasNullCount() || stats.NullCount() != chunk.NumValues() {
			return false
		}
	}
	return true
}

// scanLog decodes a log of the journal.
func scanLog[T any](body []byte, m record.Manifest, t table[T], yield func([]T)) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged: %v", p)
		}
	}()
	r, err := ipc.NewReader(bytes.NewReader(unframe(body)))
	if err != nil {
		return nil // cut before the first batch: nothing is kept in it
	}
	defer r.Release()
	_, err = scanRecords(r, t, ownedBy(m, yield)) // an error is none of the cut: its frames were whole
	return err
}

// scanRecords decodes what a reader gives, and says how many rows that were.
func scanRecords[T any](r array.RecordReader, t table[T], take func(*batch[T]) error) (n int64, err error) {
	var b batch[T]
	for r.Next() {
		rec := r.Record()
		if rec.NumRows() > maxPartRows {
			return n, fmt.Errorf("claims %d rows", rec.NumRows())
		}
		n += rec.NumRows()
		b.reset(int(rec.NumRows()))
		if err := decodeRecord(rec, t, b.rows); err != nil {
			return n, err
		}
		if err := take(&b); err != nil {
			return n, err
		}
	}
	if err := r.Err(); err != nil && !errors.Is(err, io.EOF) {
		return n, err
	}
	return n, nil
}

// decode fills in the cells of a column that are not null.
func (c column[T]) decode(a arrow.Array, rows []row[T]) {
	switch a.NullN() {
	case 0:
		for i := range rows {
			c.read(a, i, &rows[i])
		}
	case len(rows):
	default:
		for i := range rows {
			if a.IsValid(i) {
				c.read(a, i, &rows[i])
			}
		}
	}
}

// valueType is the type of an array's values, whether they lie in it or in its dictionary.
func valueType(a arrow.Array) arrow.Type {
	if d, ok := a.(*array.Dictionary); ok {
		return d.Dictionary().DataType().ID()
	}
	return a.DataType().ID()
}

// decodeRecord fills rows from a record of as many. A column that it lacks, as an older
// schema does, is unknown.
func decodeRecord[T any](rec arrow.Record, t table[T], rows []row[T]) error {
	for _, c := range t.columns {
		at := rec.Schema().FieldIndices(c.name)
		if c.read == nil || len(at) == 0 {
			continue
		}
		a := rec.Column(at[0])
		if valueType(a) != c.typ.ID() || a.Len() != len(rows) {
			return fmt.Errorf("column %s is of type %s, not %s, or of another length", c.name, a.DataType(), c.typ)
		}
		c.decode(a, rows)
	}
	return nil
}
