package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"rung/results"
	"rung/runner"
	"rung/runner/metrics"
	"rung/runner/proc"
	"rung/runner/self"
	"rung/sinks"
	"rung/sinks/parquet"
	"rung/sinks/progress"
	"rung/sinks/record"
	"rung/spec"
	"rung/spec/plan"
)

// runFlags are those of rung run alone.
type runFlags struct {
	out   string
	cells []string // numbers and names; none means all

	canary      string // folder of the run whose limits are tried; empty: the ladders are walked whole
	resume      string // folder of the run that is to go on; empty: a new one
	noSelfCheck bool
	noExec      bool // refuse a run that would start a program
}

func (a *app) run() *cobra.Command {
	var f specFlags
	o := runFlags{out: "results"}
	c := &cobra.Command{
		Use:   "run SPEC",
		Short: "Run an experiment and record it",
		Long: `Sends what the spec declares and records it in a new folder,
results/<experiment>/<run>/, whose path it prints. An existing run is never
touched. The first interrupt lets what is in flight come back and ends the run;
the second gives that up too. What was measured is kept either way.

A spec with a matrix has a run for each of its cells, one after the other in the
order of rung plan, until one fails or is interrupted.

A spec from somebody else may start programs: what a run will execute is printed
before it does, and --no-exec refuses it.

With --resume a run that was interrupted, killed or failed goes on in its own
folder, from its first round that is not complete. The spec must be the same; of a
matrix it is the run's own cell, and --cell runs those that were not begun.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.runSpec(cmd.Context(), args[0], f, o) },
	}
	c.ValidArgsFunction = specFiles
	f.add(c)
	c.Flags().StringVar(&o.out, "out", o.out, "`folder` that the results are written to")
	must(c.MarkFlagDirname("out"))
	c.Flags().StringVar(&o.resume, "resume", "", "go on with the run in this `folder`, or the latest of an experiment's")
	must(c.MarkFlagDirname("resume"))
	c.Flags().BoolVar(&o.noSelfCheck, "no-self-check", false, "do not measure, for a second before the run, how fast this machine can send at all")
	c.Flags().BoolVar(&o.noExec, "no-exec", false, "refuse a spec that starts a program: server.command, target.command or nvidia-smi")
	c.Flags().StringArrayVar(&o.cells, "cell", nil, "run this cell of the matrix alone, by its `number or name`; may be given several times")
	c.Flags().StringVar(&o.canary, "canary", "", "send the ladders' prompts at the limits alone that the run in this `folder` found, in its cell")
	must(c.MarkFlagDirname("canary"))
	c.MarkFlagsMutuallyExclusive("canary", "resume")
	c.MarkFlagsMutuallyExclusive("canary", "cell")
	c.MarkFlagsMutuallyExclusive("resume", "cell")
	c.MarkFlagsMutuallyExclusive("resume", "out")
	return c
}

// job is the run of one cell, from its spec to its manifest.
type job struct {
	*app
	spec      spec.Result
	plan      plan.Plan // as the runner takes it: with the simulated server's address
	cell      plan.Cell
	simulated bool
	prepared  *runner.Prepared
	sampler   runner.Sampler
	gpu       record.GPUInfo
	metrics   *metrics.Reader  // nil: the spec has no block metrics
	log       runner.LogReader // nil: nobody reads what the server prints

	metricsInfo *record.MetricsInfo

	flags    runFlags
	server   runner.Server // what can be started again; nil: nothing
	mark     *proc.Mark    // of the server that was started; nil: none, or the system does not tell
	path     string        // of the spec
	dir      string
	resumed  *resumed       // nil: the run begins
	canary   *record.Canary // nil: the ladders are walked whole
	writer   *parquet.Writer
	manifest record.Manifest
	pump     *sinks.Pump // nil before the recording begins
}

// runSpec runs the cells of a spec in order.
func (a *app) runSpec(ctx context.Context, path string, f specFlags, o runFlags) error {
	res, err := a.load(path, f, true)
	if err != nil {
		return err
	}
	simulated := f.simulate || res.Plan.Simulated()
	var held *record.Canary
	if o.canary != "" {
		if res.Plan, held, err = a.canary(o.canary, res.Plan); err != nil {
			return err
		}
	}
	var past *resumed
	if o.resume != "" {
		if past, err = a.openResumed(o.resume, res, simulated); err != nil {
			return err
		}
		o.cells = past.cell()
	}
	cells, err := choose(res.Plan.Cells, o.cells)
	if err != nil {
		return err
	}
	if err := supported(res.Plan, f.simulate); err != nil {
		return err
	}
	if err := a.announce(executes(res.Plan, cells, simulated), o.noExec); err != nil {
		return err
	}
	drain, abort, stop := a.interruptible(ctx)
	defer stop()
	for i, c := range cells {
		if drain.Err() != nil { // between two cells
			return statusError{status: exitInterrupted}
		}
		if len(cells) > 1 {
			a.say("cell %d of %d: %s", i+1, len(cells), c.Name)
		}
		j := &job{app: a, spec: res, plan: prepared(res.Plan, path), cell: c, simulated: simulated, flags: o, path: path, resumed: past, canary: held}
		if err := j.run(drain, abort); err != nil {
			return err
		}
	}
	return nil
}

// choose gives the cells that are named or numbered, in the plan's order; all where
// none is.
func choose(cells []plan.Cell, wanted []string) ([]plan.Cell, error) {
	if len(wanted) == 0 {
		return cells, nil
	}
	picked := map[int]bool{}
	for _, w := range wanted {
		i := slices.IndexFunc(cells, func(c plan.Cell) bool { return c.Name == w || strconv.Itoa(c.Index+1) == w })
		if i < 0 || w == "" {
			return nil, usage("there is no cell %q; %s", w, cellNames(cells))
		}
		picked[i] = true
	}
	var out []plan.Cell
	for i, c := range cells {
		if picked[i] {
			out = append(out, c)
		}
	}
	return out, nil
}

// cellNames lists cells for an error, as many as a person reads.
func cellNames(cells []plan.Cell) string {
	if len(cells) == 1 && cells[0].Name == "" {
		return "the spec has no matrix"
	}
	var names []string
	for _, c := range cells[:min(len(cells), 10)] {
		names = append(names, fmt.Sprintf("%d or %s", c.Index+1, c.Name))
	}
	text := "there are " + strings.Join(names, ", ")
	if n := len(cells) - len(names); n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// run prepares, creates and records one cell.
func (j *job) run(drain, abort *stopper) error {
	var log lateWriter
	if j.simulated {
		server, err := startSimulator(abort, j, &log)
		if err != nil {
			return failed(err)
		}
		defer server.Close() //nolint:errcheck // the run is over; nothing depends on how the simulated server ends
	}
	started, err := j.startServer(drain, &log)
	if err != nil {
		return j.notStarted(drain, err)
	}
	if started != nil {
		j.server = started
		defer started.Close() //nolint:errcheck // it is ended either way
	}
	serversLog, err := j.openServersLog()
	if err != nil {
		return usage("%s", err)
	}
	defer serversLog.Close() //nolint:errcheck // it was only read
	if err := j.openSampler(drain); err != nil {
		return err
	}
	if j.sampler != nil {
		defer j.sampler.Close() //nolint:errcheck // the samples are written; nothing depends on how the library ends
	}
	if err := j.openMetrics(); err != nil {
		return err
	}
	if j.metrics != nil {
		defer j.metrics.Close()
	}
	if !j.simulated {
		j.say("asking the server for its model and one answer of %s", j.plan.Target.API)
	}
	if err := j.prepare(drain); err != nil {
		return j.notStarted(drain, err)
	}
	defer j.prepared.Close()
	open := func() error { return j.create(&log) }
	if j.resumed != nil {
		open = func() error { return j.reopen(&log) }
	}
	if err := open(); err != nil {
		return failed(err)
	}
	j.keepMark()
	defer log.close() //nolint:errcheck // its sync is not worth failing a run over
	return j.record(drain, abort)
}

// notStarted says why a run did not begin, or did not go on.
func (j *job) notStarted(drain *stopper, err error) error {
	left := "The run did not start and nothing was written"
	if j.resumed != nil {
		left = "The run did not go on, and is as it was"
	}
	if drain.Err() != nil {
		return statusError{exitInterrupted, errors.New("interrupted before the first request. " + left)}
	}
	return failed(fmt.Errorf("%w\n%s", err, left))
}

func (j *job) prepare(ctx context.Context) (err error) {
	cfg := runner.Config{
		Plan: j.plan, Cell: j.cell, Secrets: j.secrets(), Texts: j.spec.Texts, Sampler: j.sampler,
		Server: j.server, Usage: self.Now, SelfCheck: j.selfCheck(), Limits: j.limits, Asked: j.asked(), Told: j.told,
		Past: j.resumed.past(j.now()), Log: j.log,
	}
	if j.metrics != nil {
		cfg.Metrics = j.metrics
	}
	j.prepared, err = runner.Prepare(ctx, cfg)
	return err
}

// selfCheck asks for the instrument's floor, or says why there is none.
func (j *job) selfCheck() string {
	switch {
	case j.flags.noSelfCheck:
		return "--no-self-check"
	case j.simulated:
		return "the simulated server runs in this process and takes its time"
	case j.plan.Target.API == plan.Exec:
		return "a program is called, and no connection made"
	default:
		return runner.SelfCheck
	}
}

// limits are what the report makes of the ladders, which are recorded by then.
func (j *job) limits() ([]runner.Limit, error) {
	if j.canary != nil {
		return canaryLimits(*j.canary), nil
	}
	j.pump.Wait()
	run, err := results.Open(j.dir)
	if err != nil {
		return nil, err
	}
	var out []runner.Limit
	for _, l := range results.Analyse(run, run.Plan.Analysis).Ladders {
		limit := runner.Limit{Ladder: l.Name, Reason: "there is no limit: " + l.Limit.Reason}
		if v := l.Limit.Value; v != nil {
			limit.Value, limit.Reason = *v, ""
		}
		out = append(out, limit)
	}
	return out, nil
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
func (j *job) create(log *lateWriter) error {
	p := j.spec.Plan
	dir, id, err := parquet.CreateRun(j.flags.out, p.Experiment, p.SpecHash, j.cell.Name, j.now)
	if err != nil {
		return err
	}
	j.dir = dir
	if err := os.WriteFile(filepath.Join(dir, "spec.hcl"), j.spec.Source, 0o644); err != nil { //nolint:gosec // a result to be shared, not a secret
		return err
	}
	if err := j.openLog(log); err != nil {
		return err
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	j.manifest = record.Manifest{
		SchemaVersion: record.SchemaVersion, Rung: release + revision(), Simulated: j.simulated,
		Experiment: p.Experiment, RunID: id, Cell: j.cell.Name, Status: record.Running,
		SpecHash: p.SpecHash, WorkloadHash: j.cell.WorkloadHash, PlanDigest: p.Digest(), Seed: p.Seed,
		Variables: j.spec.Variables, Plan: raw, Began: j.prepared.Began().UTC(),
		Host: thisHost(), Git: commitOf(j.path), Server: j.prepared.Server(), Client: j.prepared.Instrument(), GPU: j.gpu, Metrics: j.metricsInfo, GPUs: j.devices(), Parts: []record.Part{},
		Canary: j.canary,
	}
	if err := parquet.WriteManifest(dir, j.manifest); err != nil {
		return err
	}
	j.writer, err = parquet.NewWriter(dir, parquet.Identity{Experiment: p.Experiment, RunID: id, Cell: j.cell.Name}, j.now)
	return err
}

// openLog begins the file of what the server prints, or goes on with it.
func (j *job) openLog(log *lateWriter) error {
	if !j.simulated && j.server == nil {
		return nil
	}
	return log.open(filepath.Join(j.dir, "server.log"))
}

// devices are the cards that are sampled.
func (j *job) devices() []record.Device {
	if j.sampler == nil {
		return []record.Device{}
	}
	return j.sampler.Devices()
}

// record runs the plan into the sinks and writes the manifest, last.
func (j *job) record(drain, abort *stopper) error {
	show := progress.New(j.stderr, j.plan, j.cell, progress.Options{
		Live: j.color(j.errTTY), Width: j.columns, UTF8: j.utf8(), Simulated: j.simulated, Now: j.now, Past: j.resumed.events()})
	j.pump = sinks.NewPump(func(error) { drain.cancel(); abort.cancel() }, j.writer, show)
	summary, runErr := j.prepared.Run(drain, abort, j.pump.Put)
	sinkErr := j.pump.Close()
	err := errors.Join(runErr, sinkErr)

	j.manifest.Parts, j.manifest.Counts = j.writer.Parts(), j.writer.Counts()
	ended := j.now().UTC()
	j.manifest.Ended = &ended
	j.manifest.GPU.Late += summary.LateSamples
	if summary.GPULost != "" {
		j.manifest.GPU.Warnings = summary.GPULost
	}
	if m := j.manifest.Metrics; m != nil {
		m.Late, m.Lost = m.Late+summary.LateMetrics, summary.MetricsLost
	}
	j.manifest.Status = record.Done
	switch {
	case err != nil:
		j.manifest.Status, j.manifest.Error = record.Failed, err.Error()
	case summary.Interrupted:
		j.manifest.Status = record.InterruptedStatus
	}
	if j.plan.GPU.Source == sourceFile {
		err = errors.Join(err, j.addDeclared())
	}
	if werr := parquet.WriteManifest(j.dir, j.manifest); werr != nil {
		err = errors.Join(err, werr) // the journal stays: it lists what the manifest does not
	} else {
		err = errors.Join(err, j.writer.End())
	}
	if j.manifest.Status != record.Done {
		j.say("to go on with it: rung run %s --resume %s", j.path, j.dir)
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
