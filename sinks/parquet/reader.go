package parquet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/apache/arrow/go/v17/parquet/file"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"

	"rung/sinks/record"
)

const (
	maxPartBytes = 1 << 30
	maxPartRows  = 8 << 20 // the writer's parts have far fewer; a bound on what a false header can claim
	batchRows    = 64 << 10

	wayOut = "restore the file from a copy or run the experiment again; the run's other parts are as they were"
)

// ReadRequests reads the table requests of the run in dir, whose manifest is m,
// in the order of writing. See read for what is checked.
//
// Of a run that has not ended in order, requests whose round has no verdict are read too,
// and count nowhere.
func ReadRequests(dir string, m record.Manifest) ([]record.Request, error) {
	rows, err := read(dir, m, requests())
	if err != nil || !Unfinished(dir, m) {
		return rows, err
	}
	events, err := ReadEvents(dir, m)
	if err != nil {
		return nil, err
	}
	drafts, err := readDrafts(dir, m, rows)
	record.VoidUnjudged(rows, events) // without the drafts: they have no verdict
	return append(rows, drafts...), err
}

// ReadSamples reads the table gpu.
func ReadSamples(dir string, m record.Manifest) ([]record.Sample, error) {
	return read(dir, m, samples())
}

// ReadEvents reads the table events.
func ReadEvents(dir string, m record.Manifest) ([]record.Event, error) {
	return read(dir, m, events())
}

// ReadClient reads the table client.
func ReadClient(dir string, m record.Manifest) ([]record.ClientSample, error) {
	return read(dir, m, clients())
}

// ReadServer reads the table server.
func ReadServer(dir string, m record.Manifest) ([]record.ServerSample, error) {
	return read(dir, m, server())
}

// read reads a table part by part. Each part's size and SHA-256 are those of the
// manifest before it is opened, its row count after, and each row is of the run. Of a run
// that has not ended in order, parts that no list has are read as they are, and then what
// lies in the journal.
func read[T any](dir string, m record.Manifest, t table[T]) ([]T, error) {
	parts, logs, unfinished := m.Parts, []leftover(nil), Unfinished(dir, m)
	if unfinished {
		var err error
		if logs, err = leftovers(dir, t.name); err != nil {
			return nil, err
		}
		if parts, err = listed(dir, m, t.name, logs); err != nil {
			return nil, err
		}
	}
	var items []T
	for _, p := range parts {
		if p.Table != t.name {
			continue
		}
		more, err := readPart(dir, m, p, t, unfinished && p.SHA256 == "")
		if err != nil {
			return nil, fmt.Errorf("%s: %w; %s", filepath.Join(dir, filepath.FromSlash(p.Path)), err, wayOut)
		}
		items = append(items, more...)
	}
	for _, l := range logs {
		if slices.ContainsFunc(parts, func(p record.Part) bool { return seqOf(p.Path) == l.seq }) {
			continue // it has become a part
		}
		more, err := readLog(l, m, t)
		if err != nil {
			return nil, err
		}
		items = append(items, more...)
	}
	return items, nil
}

// readPart reads one part. One that is as it lies is held against no list.
func readPart[T any](dir string, m record.Manifest, p record.Part, t table[T], asItLies bool) (items []T, err error) {
	name := filepath.FromSlash(p.Path)
	if !filepath.IsLocal(name) {
		return nil, errors.New("the manifest names a file outside the run's folder")
	}
	b, err := readBounded(filepath.Join(dir, name), maxPartBytes)
	if err != nil {
		return nil, err
	}
	if !asItLies {
		if int64(len(b)) != p.Bytes {
			return nil, fmt.Errorf("%d bytes, and the manifest says %d: cut or altered", len(b), p.Bytes)
		}
		if sumOf(b) != p.SHA256 {
			return nil, errors.New("its SHA-256 is not the manifest's: altered")
		}
	}
	items, err = decodeSafely(b, m, t)
	if err != nil {
		return nil, err
	}
	if !asItLies && int64(len(items)) != p.Rows {
		return nil, fmt.Errorf("%d rows, and the manifest says %d", len(items), p.Rows)
	}
	return items, nil
}

// decodeSafely reads one part of a run, whatever its bytes are.
func decodeSafely[T any](b []byte, m record.Manifest, t table[T]) ([]T, error) {
	items, rows, err := decodeAny(b, t)
	if err != nil {
		return nil, err
	}
	return items, checkOwner(rows, m)
}

// decodeAny reads one part of whatever run.
func decodeAny[T any](b []byte, t table[T]) (items []T, rows []row[T], err error) {
	defer func() {
		if r := recover(); r != nil {
			items, rows, err = nil, nil, fmt.Errorf("damaged: %v", r)
		}
	}()
	return decodeRows(b, t)
}

// sumOf is the SHA-256 of bytes, in hex.
func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// decodeRows reads one Parquet file, column by column in this goroutine: a damaged
// page can panic, and a panic elsewhere could not be caught.
func decodeRows[T any](b []byte, t table[T]) ([]T, []row[T], error) {
	pf, err := file.NewParquetReader(bytes.NewReader(b))
	if err != nil {
		return nil, nil, fmt.Errorf("not a Parquet file: %w", err)
	}
	defer pf.Close() //nolint:errcheck // in memory
	if pf.NumRows() < 0 || pf.NumRows() > maxPartRows {
		return nil, nil, fmt.Errorf("claims %d rows", pf.NumRows())
	}
	fr, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{BatchSize: batchRows}, memory.DefaultAllocator)
	if err != nil {
		return nil, nil, err
	}
	schema, err := fr.Schema()
	if err != nil {
		return nil, nil, err
	}
	items := make([]T, pf.NumRows())
	rows := rowsOf(items)
	for _, c := range t.columns {
		if c.read == nil {
			continue
		}
		at := schema.FieldIndices(c.name)
		if len(at) == 0 {
			continue // an older schema: unknown
		}
		if f := schema.Field(at[0]); f.Type.ID() != c.typ.ID() {
			return nil, nil, fmt.Errorf("column %s is of type %s, not %s", c.name, f.Type, c.typ)
		}
		if err := decodeColumn(fr, at[0], c, rows); err != nil {
			return nil, nil, fmt.Errorf("column %s: %w", c.name, err)
		}
	}
	return items, rows, nil
}

func decodeColumn[T any](fr *pqarrow.FileReader, at int, c column[T], rows []row[T]) error {
	n := 0
	for g := range fr.ParquetReader().NumRowGroups() {
		chunked, err := fr.RowGroup(g).Column(at).Read(context.Background())
		if err != nil {
			return err
		}
		for _, a := range chunked.Chunks() {
			if n+a.Len() > len(rows) {
				return fmt.Errorf("more than the %d rows that the file claims", len(rows))
			}
			decodeCells(a, c, rows[n:n+a.Len()])
			n += a.Len()
		}
		chunked.Release()
	}
	if n != len(rows) {
		return fmt.Errorf("%d rows, and the file claims %d", n, len(rows))
	}
	return nil
}

func decodeCells[T any](a arrow.Array, c column[T], rows []row[T]) {
	for i := range rows {
		if a.IsValid(i) {
			c.read(a, i, &rows[i])
		}
	}
}
