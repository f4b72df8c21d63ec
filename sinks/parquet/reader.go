package parquet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

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
func ReadRequests(dir string, m record.Manifest) ([]record.Request, error) {
	return read(dir, m, requests())
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

// Unlisted says whether the manifest lists no parts because its run was never
// finished: it runs still, or was killed. The readers then take the parts that
// lie in the folders, unverified, and a report must say so.
func Unlisted(m record.Manifest) bool { return m.Status == record.Running && len(m.Parts) == 0 }

// read reads a table part by part. Each part's size and SHA-256 are those of the
// manifest before it is opened, its row count after, and each row is of the run.
func read[T any](dir string, m record.Manifest, t table[T]) ([]T, error) {
	parts := m.Parts
	if Unlisted(m) {
		var err error
		if parts, err = onDisk(dir, t.name); err != nil {
			return nil, err
		}
	}
	var items []T
	for _, p := range parts {
		if p.Table != t.name {
			continue
		}
		more, err := readPart(dir, m, p, t)
		if err != nil {
			return nil, fmt.Errorf("%s: %w; %s", filepath.Join(dir, filepath.FromSlash(p.Path)), err, wayOut)
		}
		items = append(items, more...)
	}
	return items, nil
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
	slices.SortFunc(parts, func(a, b record.Part) int { return strings.Compare(a.Path, b.Path) })
	return parts, nil
}

func readPart[T any](dir string, m record.Manifest, p record.Part, t table[T]) (items []T, err error) {
	name := filepath.FromSlash(p.Path)
	if !filepath.IsLocal(name) {
		return nil, errors.New("the manifest names a file outside the run's folder")
	}
	b, err := readBounded(filepath.Join(dir, name), maxPartBytes)
	if err != nil {
		return nil, err
	}
	if p.SHA256 != "" || !Unlisted(m) {
		if int64(len(b)) != p.Bytes {
			return nil, fmt.Errorf("%d bytes, and the manifest says %d: cut or altered", len(b), p.Bytes)
		}
		if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != p.SHA256 {
			return nil, errors.New("its SHA-256 is not the manifest's: altered")
		}
	}
	defer func() {
		if r := recover(); r != nil {
			items, err = nil, fmt.Errorf("damaged: %v", r)
		}
	}()
	items, err = decode(b, m, t)
	if err != nil {
		return nil, err
	}
	if !Unlisted(m) && int64(len(items)) != p.Rows {
		return nil, fmt.Errorf("%d rows, and the manifest says %d", len(items), p.Rows)
	}
	return items, nil
}

// decode reads one part of a run.
func decode[T any](b []byte, m record.Manifest, t table[T]) ([]T, error) {
	items, rows, err := decodeRows(b, t)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if rows[i].id.RunID != m.RunID {
			return nil, fmt.Errorf("row %d is of run %q, not %q", i, rows[i].id.RunID, m.RunID)
		}
	}
	return items, nil
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
	rows := make([]row[T], len(items))
	for i := range rows {
		rows[i].v = &items[i]
	}
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
