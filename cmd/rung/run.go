package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"rung/runner"
	"rung/sinks"
	"rung/sinks/parquet"
	"rung/sinks/progress"
	"rung/sinks/record"
	"rung/spec"
	"rung/spec/plan"
)

func (a *app) run() *cobra.Command {
	var f specFlags
	out := "results"
	c := &cobra.Command{
		Use:   "run SPEC",
		Short: "Run an experiment and record it",
		Long: `Sends what the spec declares and records it in a new folder,
results/<experiment>/<run>/, whose path it prints. An existing run is never
touched. The first interrupt lets what is in flight come back and ends the run;
the second gives that up too. What was measured is kept either way.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runSpec(cmd.Context(), args[0], f, out) },
	}
	f.add(c.Flags())
	c.Flags().StringVar(&out, "out", out, "`folder` that the results are written to")
	return c
}

// job is one run from its spec to its manifest.
type job struct {
	*app
	spec      spec.Result
	plan      plan.Plan // as the runner takes it: with the simulated server's address
	simulated bool
	prepared  *runner.Prepared
	sampler   runner.Sampler
	gpu       record.GPUInfo
	dir       string
	manifest  record.Manifest
}

func (a *app) runSpec(ctx context.Context, path string, f specFlags, out string) error {
	res, err := a.load(path, f, true)
	if err != nil {
		return err
	}
	drain, abort, stop := a.interruptible(ctx)
	defer stop()
	j := &job{app: a, spec: res, plan: res.Plan, simulated: f.simulate || res.Plan.Simulated()}
	var log lateWriter
	if j.simulated {
		server, err := startSimulator(abort, j, &log)
		if err != nil {
			return failed(err)
		}
		defer server.Close() //nolint:errcheck // the run is over; nothing depends on how the simulated server ends
	}
	if err := j.openSampler(); err != nil {
		return err
	}
	if j.sampler != nil {
		defer j.sampler.Close() //nolint:errcheck // the samples are written; nothing depends on how the library ends
	}
	if !j.simulated {
		j.say("asking the server for its model and one answer of %s", j.plan.Target.API)
	}
	j.prepared, err = runner.Prepare(drain, runner.Config{Plan: j.plan, Cell: j.plan.Cells[0], Secrets: j.secrets(), Texts: res.Texts, Sampler: j.sampler})
	if err != nil {
		if drain.Err() != nil {
			return statusError{exitInterrupted, errors.New("interrupted before the run; nothing was written")}
		}
		return failed(fmt.Errorf("%w\nThe run did not start and nothing was written", err))
	}
	defer j.prepared.Close()
	if err := j.create(path, out, &log); err != nil {
		return failed(err)
	}
	defer log.close() //nolint:errcheck // its sync is not worth failing a run over
	return j.record(drain, abort)
}

// secrets are the spec's, but for the address that the simulated server replaces.
func (j *job) secrets() plan.Secrets {
	s := j.spec.Secrets
	if j.simulated {
		s.URL = nil
	}
	return s
}

// create makes the run's folder with all that is known before the first request.
func (j *job) create(path, out string, log *lateWriter) error {
	p := j.spec.Plan
	dir, id, err := parquet.CreateRun(out, p.Experiment, p.SpecHash, p.Cells[0].Name, j.now)
	if err != nil {
		return err
	}
	j.dir = dir
	if err := os.WriteFile(filepath.Join(dir, "spec.hcl"), j.spec.Source, 0o644); err != nil { //nolint:gosec // a result to be shared, not a secret
		return err
	}
	if j.simulated {
		if err := log.open(filepath.Join(dir, "server.log")); err != nil {
			return err
		}
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	j.manifest = record.Manifest{
		SchemaVersion: record.SchemaVersion, Rung: release + revision(), Simulated: j.simulated,
		Experiment: p.Experiment, RunID: id, Cell: p.Cells[0].Name, Status: record.Running,
		SpecHash: p.SpecHash, WorkloadHash: p.WorkloadHash, PlanDigest: p.Digest(), Seed: p.Seed,
		Variables: j.spec.Variables, Plan: raw, Began: j.prepared.Began().UTC(),
		Host: thisHost(), Git: commitOf(path), Server: j.prepared.Server(), GPU: j.gpu, GPUs: []record.Device{}, Parts: []record.Part{},
	}
	if j.sampler != nil {
		j.manifest.GPUs = j.sampler.Devices()
	}
	return parquet.WriteManifest(dir, j.manifest)
}

// record runs the plan into the sinks and writes the manifest, last.
func (j *job) record(drain, abort *stopper) error {
	p := j.manifest
	writer, err := parquet.NewWriter(j.dir, parquet.Identity{Experiment: p.Experiment, RunID: p.RunID, Cell: p.Cell}, j.now)
	if err != nil {
		return failed(err)
	}
	show := progress.New(j.stderr, j.plan, j.plan.Cells[0], progress.Options{
		Live: j.color(j.errTTY), Width: j.columns, UTF8: j.utf8(), Simulated: j.simulated, Now: j.now})
	pump := sinks.NewPump(func(error) { drain.cancel(); abort.cancel() }, writer, show)
	summary, runErr := j.prepared.Run(drain, abort, pump.Put)
	sinkErr := pump.Close()
	err = errors.Join(runErr, sinkErr)

	j.manifest.Parts, j.manifest.Counts = writer.Parts(), writer.Counts()
	ended := j.now().UTC()
	j.manifest.Ended = &ended
	j.manifest.GPU.Late = summary.LateSamples
	if summary.GPULost != "" {
		j.manifest.GPU.Warnings = summary.GPULost
	}
	j.manifest.Status = record.Done
	switch {
	case err != nil:
		j.manifest.Status, j.manifest.Error = record.Failed, err.Error()
	case summary.Interrupted:
		j.manifest.Status = record.InterruptedStatus
	}
	if werr := parquet.WriteManifest(j.dir, j.manifest); werr != nil {
		err = errors.Join(err, werr)
	}
	fmt.Fprintln(j.stdout, j.dir) //nolint:errcheck // a closed stdout has no reader
	switch {
	case err != nil:
		return failed(fmt.Errorf("%w\nWhat was measured is in %s", err, j.dir))
	case summary.Interrupted:
		return statusError{status: exitInterrupted}
	}
	return nil
}
