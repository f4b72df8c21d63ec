package parquet

import (
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
	pq "github.com/apache/arrow/go/v17/parquet"
	"github.com/apache/arrow/go/v17/parquet/compress"
	"github.com/apache/arrow/go/v17/parquet/pqarrow"
)

// encode writes items as one Parquet file of one row group.
func (t table[T]) encode(to io.Writer, id Identity, items []T) (err error) {
	w := &firstError{to: to}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("encoding: %v", p)
		}
		if w.err != nil { // Arrow hides that the disk is full behind what it was about to write
			err = w.err
		}
	}()
	schema := t.schema()
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	rec := t.build(b, id, items)
	defer rec.Release()
	// pqarrow closes what it writes to; the caller still has to sync it.
	fw, err := pqarrow.NewFileWriter(schema, struct{ io.Writer }{w}, t.properties(), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return err
	}
	if err := fw.Write(rec); err != nil {
		return err
	}
	return fw.Close()
}

// build makes items a batch, by a builder of the table's schema.
func (t table[T]) build(b *array.RecordBuilder, id Identity, items []T) arrow.Record {
	r := row[T]{id: id}
	for i, c := range t.columns {
		f := b.Field(i)
		f.Reserve(len(items))
		for j := range items {
			r.v = &items[j]
			c.put(f, &r)
		}
	}
	return b.NewRecord()
}

// firstError keeps the first error of a writer.
type firstError struct {
	to  io.Writer
	err error
}

func (w *firstError) Write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	if err != nil && w.err == nil {
		w.err = err
	}
	return n, err
}

// properties say how the columns are laid out in a file.
func (t table[T]) properties() *pq.WriterProperties {
	opts := []pq.WriterProperty{
		pq.WithCompression(compress.Codecs.Zstd),
		pq.WithCreatedBy("rung"),
		pq.WithDictionaryDefault(false),
	}
	for _, c := range t.columns {
		if c.repeats {
			opts = append(opts, pq.WithDictionaryFor(c.name, true))
		}
	}
	return pq.NewWriterProperties(opts...)
}
