package results

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"rung/results/rows"
	"rung/sinks/parquet"
	"rung/sinks/record"
	"rung/spec/plan"
)

// Run is one run as it was recorded.
type Run struct {
	Dir      string
	Manifest record.Manifest
	Plan     plan.Plan
	Spec     string // the file as read; empty where the run kept none

	Requests *rows.Table
	Samples  []record.Sample
	Events   []record.Event
	Client   []record.ClientSample // of the instrument itself
	Metrics  []rows.Gauge          // of the server itself, in any order

	// Unverified says that the run did not end in order: the rows are those of the
	// parts that lay whole on disk and of the journal.
	Unverified bool
}

// Find gives the folders of runs at path in the order in which they began: the
// path itself where it is a run's folder, else the runs in it.
func Find(path string) ([]string, error) {
	if isRun(path) {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path) // sorted by name, and a run's name begins with its start
	if err != nil {
		return nil, fmt.Errorf("find runs: %w", err)
	}
	var dirs []string
	for _, e := range entries {
		if dir := filepath.Join(path, e.Name()); e.IsDir() && isRun(dir) {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) == 0 {
		return nil, fmt.Errorf("%s is neither a run's folder nor an experiment's: no manifest.json in it or one folder down", path)
	}
	return dirs, nil
}

func isRun(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "manifest.json"))
	return err == nil
}

// maxSpec bounds the specification that a report shows.
const maxSpec = 1 << 20

// Open reads a run. Each part is checked against the manifest before it is
// opened; an error names the file and the way out.
func Open(dir string) (*Run, error) {
	m, err := parquet.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	r := &Run{Dir: dir, Manifest: m, Unverified: parquet.Unfinished(dir, m)}
	if err := json.Unmarshal(m.Plan, &r.Plan); err != nil {
		return nil, fmt.Errorf("%s: the plan in it: %w", filepath.Join(dir, "manifest.json"), err)
	}
	if len(r.Plan.Cells) == 0 {
		return nil, fmt.Errorf("%s: the plan in it has no cell", filepath.Join(dir, "manifest.json"))
	}
	if err := r.checkPlan(); err != nil {
		return nil, err
	}
	if r.Spec, err = readSpec(filepath.Join(dir, "spec.hcl")); err != nil {
		return nil, err
	}
	if err := r.read(); err != nil {
		return nil, err
	}
	return r, nil
}

// read reads the tables; its error is that of the first of them. The requests, which may be
// many, come before the others: those are full of pointers, that a collector would follow
// each time that it has to clear up after some more requests.
func (r *Run) read() error {
	r.Requests = rows.New()
	if err := parquet.ScanRequests(r.Dir, r.Manifest, rows.Columns(), r.Requests.Add); err != nil {
		return err
	}
	tables := []func() error{
		func() (err error) { r.Samples, err = parquet.ReadSamples(r.Dir, r.Manifest); return err },
		func() (err error) { r.Events, err = parquet.ReadEvents(r.Dir, r.Manifest); return err },
		func() (err error) { r.Client, err = parquet.ReadClient(r.Dir, r.Manifest); return err },
		func() error {
			r.Metrics = make([]rows.Gauge, 0, r.Manifest.Room(parquet.ServerTable))
			return parquet.ScanServer(r.Dir, r.Manifest, rows.GaugeColumns(), func(samples []record.ServerSample) {
				r.Metrics = append(r.Metrics, rows.Gauges(samples)...)
			})
		},
	}
	errs := make([]error, len(tables))
	each(len(tables), func(i int) { errs[i] = tables[i]() })
	return cmp.Or(errs...)
}

// checkPlan holds the plan against what the manifest says of it, so that no rule
// or rung of an edited one is taken for what was run.
func (r *Run) checkPlan() error {
	m, p := r.Manifest, r.Plan
	file := filepath.Join(r.Dir, "manifest.json")
	digest := p.Digest()
	if digest != m.PlanDigest {
		digest = rawDigest(m.Plan) // as another version of rung wrote it
	}
	if digest != m.PlanDigest {
		return fmt.Errorf("%s: the plan in it is not the one that was run: its digest is %.12q, and plan_digest says %.12q; take the manifest as it was recorded",
			file, digest, m.PlanDigest)
	}
	i := slices.IndexFunc(p.Cells, func(c plan.Cell) bool { return c.Name == m.Cell })
	if i < 0 {
		return fmt.Errorf("%s: the plan that was run has no cell %q; take the manifest as it was recorded", file, m.Cell)
	}
	for _, c := range []struct{ name, said, is string }{
		{"spec_hash", m.SpecHash, p.SpecHash}, {"workload_hash", m.WorkloadHash, p.Cells[i].WorkloadHash},
		{"experiment", m.Experiment, p.Experiment}, {"seed", fmt.Sprint(m.Seed), fmt.Sprint(p.Seed)},
	} {
		if c.said != c.is {
			return fmt.Errorf("%s: its %s is not that of the plan that was run: %q, and the plan says %q; take the manifest as it was recorded",
				file, c.name, c.said, c.is)
		}
	}
	return nil
}

// rawDigest is the digest of a plan's JSON as it stands in the manifest, but for
// its blanks.
func rawDigest(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return ""
	}
	sum := sha256.Sum256(b.Bytes())
	return hex.EncodeToString(sum[:])
}

func readSpec(file string) (string, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // only read from
	b, err := io.ReadAll(io.LimitReader(f, maxSpec))
	return string(b), err
}

// cell is the part of the plan that the run carried out.
func (r *Run) cell() plan.Cell {
	for _, c := range r.Plan.Cells {
		if c.Name == r.Manifest.Cell {
			return c
		}
	}
	return r.Plan.Cells[0]
}
