package parquet

import (
	"crypto/sha256"
	"encoding/hex"

	"rung/sinks/record"
)

// ReadRequests reads the table requests of the run in dir, whose manifest is m, in the
// order of writing. See ScanRequests for what is checked.
func ReadRequests(dir string, m record.Manifest) ([]record.Request, error) {
	var all []record.Request
	err := scanRequests(dir, m, 1, nil, func(rows []record.Request) { all = append(all, rows...) })
	if err != nil {
		return nil, err
	}
	return all, nil
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

// ScanServer gives the table server, some rows at a time and in the order of writing, see
// ScanRequests.
func ScanServer(dir string, m record.Manifest, columns []string, yield func([]record.ServerSample)) error {
	return scanTable(dir, m, server().only(columns), yield)
}

// read reads a table whole, in the order of writing. See source.scan for what is checked.
func read[T any](dir string, m record.Manifest, t table[T]) (items []T, err error) {
	items = make([]T, 0, m.Room(t.name))
	err = scanTable(dir, m, t, func(rows []T) { items = append(items, rows...) })
	if err != nil {
		return nil, err
	}
	return items, nil
}

func scanTable[T any](dir string, m record.Manifest, t table[T], yield func([]T)) error {
	all, err := sources(dir, m, t.name)
	if err != nil {
		return err
	}
	for _, s := range all {
		if err := scan(s, m, t, yield); err != nil {
			return err
		}
	}
	return nil
}

// sumOf is the SHA-256 of bytes, in hex.
func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
