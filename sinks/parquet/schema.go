package parquet

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"rung/sinks/record"
)

// wall is a point on the wall clock.
type wall = time.Time

// schema is the table's Arrow schema. Each field carries what the column means,
// its unit and its formula; the schema carries its version.
func (t table[T]) schema() *arrow.Schema {
	fields := make([]arrow.Field, len(t.columns))
	for i, c := range t.columns {
		meta := map[string]string{"meaning": c.meaning}
		if c.unit != "" {
			meta["unit"] = c.unit
		}
		if c.formula != "" {
			meta["formula"] = c.formula
		}
		fields[i] = arrow.Field{Name: c.name, Type: c.typ, Nullable: true, Metadata: arrow.MetadataFrom(meta)}
	}
	meta := arrow.MetadataFrom(map[string]string{
		"rung.schema_version": strconv.Itoa(record.SchemaVersion),
		"rung.table":          t.name,
	})
	return arrow.NewSchema(fields, &meta)
}

// DescribeSchema prints every column of every table: its type, its unit and what
// it means.
func DescribeSchema(w io.Writer) error {
	lines := []string{fmt.Sprintf("schema version %d", record.SchemaVersion), "table\tcolumn\ttype\tunit\tmeaning"}
	lines = append(lines, describe(requests())...)
	lines = append(lines, describe(samples())...)
	lines = append(lines, describe(events())...)
	lines = append(lines, describe(clients())...)
	lines = append(lines, describe(server())...)
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if _, err := io.WriteString(tw, strings.Join(lines, "\n")+"\n"); err != nil {
		return err
	}
	return tw.Flush()
}

func describe[T any](t table[T]) []string {
	var lines []string
	for _, c := range t.columns {
		meaning := c.meaning
		if c.formula != "" {
			meaning += " = " + c.formula
		}
		lines = append(lines, strings.Join([]string{t.name, c.name, typeName(c.typ), cmp.Or(c.unit, "-"), meaning}, "\t"))
	}
	return lines
}

// typeName is the type as the tools that read the tables call it.
func typeName(t arrow.DataType) string {
	switch t.ID() {
	case arrow.STRING:
		return "string"
	case arrow.LIST:
		if list, ok := t.(*arrow.ListType); ok && list.Elem().ID() == arrow.INT64 {
			return "list<int64>"
		}
		return "list<double>"
	case arrow.TIMESTAMP:
		return "timestamp[us, UTC]"
	default:
		return t.Name()
	}
}
