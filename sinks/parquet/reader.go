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

// read reads a table whole, in the order of writing. See source.scan for what is checked.
func read[T any](dir string, m record.Manifest, t table[T]) ([]T, error) {
	all, err := sources(dir, m, t.name)
	if err != nil {
		return nil, err
	}
	var items []T
	for _, s := range all {
		if err := scan(s, m, t, func(rows []T) { items = append(items, rows...) }); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// sumOf is the SHA-256 of bytes, in hex.
func sumOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
