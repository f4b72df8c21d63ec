package resultstest

import (
	"os"
	"path/filepath"

	"rung/results"
	"rung/sinks/parquet"
	"rung/sinks/record"
)

// Write records a run under root as the command does and gives its folder. The
// run's name is that of the folder; its parts are listed in the manifest.
func Write(r *results.Run, root string) (dir string, err error) {
	m := r.Manifest
	dir, m.RunID, err = parquet.CreateRun(root, m.Experiment, m.SpecHash, m.Cell, start)
	if err != nil {
		return "", err
	}
	w, err := parquet.NewWriter(dir, parquet.Identity{Experiment: m.Experiment, RunID: m.RunID, Cell: m.Cell}, start)
	if err != nil {
		return "", err
	}
	for i := range r.Requests {
		if err := w.Write(record.Item{Request: &r.Requests[i]}); err != nil {
			return "", err
		}
	}
	for i := range r.Samples {
		if err := w.Write(record.Item{Sample: &r.Samples[i]}); err != nil {
			return "", err
		}
	}
	for i := range r.Client {
		if err := w.Write(record.Item{Client: &r.Client[i]}); err != nil {
			return "", err
		}
	}
	for i := range r.Metrics {
		if err := w.Write(record.Item{Server: &r.Metrics[i]}); err != nil {
			return "", err
		}
	}
	for i := range r.Events {
		if err := w.Write(record.Item{Event: &r.Events[i]}); err != nil {
			return "", err
		}
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	m.Parts, m.Counts = w.Parts(), w.Counts()
	if err := os.WriteFile(filepath.Join(dir, "spec.hcl"), []byte(r.Spec), 0o644); err != nil {
		return "", err
	}
	if err := parquet.WriteManifest(dir, m); err != nil {
		return "", err
	}
	return dir, w.End()
}
