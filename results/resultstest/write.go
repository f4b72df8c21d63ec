package resultstest

import (
	"os"
	"path/filepath"

	"rung/sinks/parquet"
	"rung/sinks/record"
)

// Write records a run under root as the command does and gives its folder. The
// run's name is that of the folder; its parts are listed in the manifest.
func Write(r *Recorded, root string) (dir string, err error) {
	w, err := create(r.Manifest, root)
	if err != nil {
		return "", err
	}
	w.requests(r.Requests)
	return w.end(r)
}

// WriteLarge makes a run and records it under root, with no more than a part of its
// requests in memory at a time.
func WriteLarge(o Options, root string) (dir string, err error) {
	o.defaults()
	w, err := create(manifest(o), root)
	if err != nil {
		return "", err
	}
	o.Take = w.requests
	return w.end(o.Run())
}

// writing is a run that is being recorded.
type writing struct {
	dir      string
	manifest record.Manifest
	tables   *parquet.Writer
	err      error // the first
}

func create(m record.Manifest, root string) (w *writing, err error) {
	w = &writing{manifest: m}
	if w.dir, w.manifest.RunID, err = parquet.CreateRun(root, m.Experiment, m.SpecHash, m.Cell, start); err != nil {
		return nil, err
	}
	w.tables, err = parquet.NewWriter(w.dir, parquet.Identity{Experiment: m.Experiment, RunID: w.manifest.RunID, Cell: m.Cell}, start)
	return w, err
}

func (w *writing) write(it record.Item) {
	if w.err == nil {
		w.err = w.tables.Write(it)
	}
}

func (w *writing) requests(rows []record.Request) {
	for i := range rows {
		w.write(record.Item{Request: &rows[i]})
	}
}

// end writes the other tables and the manifest of a run.
func (w *writing) end(r *Recorded) (string, error) {
	for i := range r.Samples {
		w.write(record.Item{Sample: &r.Samples[i]})
	}
	for i := range r.Client {
		w.write(record.Item{Client: &r.Client[i]})
	}
	for i := range r.Metrics {
		w.write(record.Item{Server: &r.Metrics[i]})
	}
	for i := range r.Events {
		w.write(record.Item{Event: &r.Events[i]})
	}
	if w.err != nil {
		return "", w.err
	}
	if err := w.tables.Close(); err != nil {
		return "", err
	}
	id := w.manifest.RunID
	w.manifest = r.Manifest
	w.manifest.RunID, w.manifest.Parts, w.manifest.Counts = id, w.tables.Parts(), w.tables.Counts()
	if err := os.WriteFile(filepath.Join(w.dir, "spec.hcl"), []byte(r.Spec), 0o644); err != nil {
		return "", err
	}
	if err := parquet.WriteManifest(w.dir, w.manifest); err != nil {
		return "", err
	}
	return w.dir, w.tables.End()
}
