package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"rung/runner/gpu/foreign"
	"rung/sinks/parquet"
	"rung/sinks/record"
)

// importFlags say what is added to a run, and how its clock is taken.
type importFlags struct {
	file    string
	offset  time.Duration
	given   bool // the offset was
	align   bool
	columns []string
	devices []string
	replace bool
}

func (a *app) importing() *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "import RUN --gpu FILE",
		Short: "Add GPU samples that were recorded elsewhere to a run",
		Long: `Adds samples of the GPU to a run that has ended. FILE is CSV of nvidia-smi's, the
table of its dmon -o DT, or what rung sample recorded: a part, or the folder.

The two machines' clocks are taken as they are, unless --offset says how far the
file's is behind, or --align finds that out: by the load, where the file shows the
run's requests in its utilisation or power. A time without an offset from UTC is of
this machine's zone; TZ names another. rung report then shows the offset, and its
uncertainty where it was measured.`,
		Example: `  rung import results/first --gpu samples.csv --align
  rung import results/first --gpu samples.csv --offset 90s`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.given = cmd.Flags().Changed("offset")
			return a.importInto(args[0], f)
		},
	}
	c.ValidArgsFunction = runFolders
	c.Flags().StringVar(&f.file, "gpu", "", "`file` or folder of the samples")
	must(c.MarkFlagRequired("gpu"))
	c.Flags().DurationVar(&f.offset, "offset", 0, "how far the file's clock is behind the run's, as `90s`; below 0 where it is ahead")
	c.Flags().BoolVar(&f.align, "align", false, "find the offset by the load that the file and the run show")
	c.MarkFlagsMutuallyExclusive("offset", "align")
	c.Flags().StringSliceVar(&f.columns, "columns", nil, "`names` of the columns of CSV without a header, as timestamp,index,memory.used")
	c.Flags().StringArrayVar(&f.devices, "device", nil, "take this device alone, by its `UUID or index`; may be given several times")
	c.Flags().BoolVar(&f.replace, "replace", false, "in place of the samples that the run has")
	return c
}

// importInto adds samples to a run: the parts first and the manifest last, so that the
// run is whole at every moment.
func (a *app) importInto(path string, f importFlags) error {
	dir, err := a.latestRun(path)
	if err != nil {
		return err
	}
	m, err := parquet.ReadManifest(dir)
	if err != nil {
		return failed(err)
	}
	old := slices.DeleteFunc(slices.Clone(m.Parts), func(p record.Part) bool { return p.Table != parquet.SampleTable })
	switch {
	case m.Status == record.Running:
		return usage("%s has not ended, or was killed: samples are added to a run that has its list of parts", dir)
	case len(old) > 0 && !f.replace:
		return usage("%s has %d samples by %s already; --replace takes these in their place", dir, m.Counts.Samples, m.GPU.Source)
	}
	if err := a.addSamples(dir, &m, f); err != nil {
		return failed(err)
	}
	if err := parquet.WriteManifest(dir, m); err != nil {
		return failed(err)
	}
	for _, p := range old { // no manifest lists them any more
		if name := filepath.FromSlash(p.Path); filepath.IsLocal(name) {
			os.Remove(filepath.Join(dir, name)) //nolint:errcheck // it is in nobody's way
		}
	}
	_, err = fmt.Fprintf(a.stdout, "%d samples of %d devices, %s\n", m.Counts.Samples, len(m.GPUs), m.GPU.Import.Offset())
	return failed(err)
}

// addSamples writes the parts of a file's samples, and changes the manifest to what it
// is to be.
func (a *app) addSamples(dir string, m *record.Manifest, f importFlags) error {
	in, err := readForeign(f.file, f.columns, f.devices)
	if err != nil {
		return err
	}
	slices.SortStableFunc(in.samples, func(x, y record.Sample) int { return x.Time.Compare(y.Time) })
	how := record.Import{File: f.file, SHA256: in.sha256, OffsetS: f.offset.Seconds(), Method: record.WallClocks, Notes: in.notes}
	if f.given {
		how.Method = record.GivenOffset
	}
	if f.align {
		requests, err := parquet.ReadRequests(dir, *m)
		if err != nil {
			return err
		}
		fit, err := foreign.Align(in.samples, requests, m.Began)
		if err != nil {
			return fmt.Errorf("%s: %w", f.file, err)
		}
		how.Method, how.OffsetS, how.UncertaintyS = record.MeasuredOffset, fit.OffsetS, &fit.UncertaintyS
		a.say("the load in %s is that of the run, by a correlation of %.2f", fit.By, fit.Correlation)
	}
	events, err := parquet.ReadEvents(dir, *m)
	if err != nil {
		return err
	}
	from, to := in.samples[0].Time, in.samples[len(in.samples)-1].Time
	offset := time.Duration(how.OffsetS * float64(time.Second))
	samples := foreign.Place(in.samples, events, m.Began, offset)
	if len(samples) == 0 {
		return fmt.Errorf("no sample of %s falls into the run: with an offset of %s they are from %s to %s, and the run began %s; --offset or --align sets their clock right",
			f.file, offset, stamp(from.Add(offset)), stamp(to.Add(offset)), stamp(m.Began))
	}
	parts, err := a.writeSamples(dir, *m, samples)
	if err != nil {
		return err
	}
	m.Parts = append(slices.DeleteFunc(m.Parts, func(p record.Part) bool { return p.Table == parquet.SampleTable }), parts...)
	m.Counts.Samples = int64(len(samples))
	m.GPUs, m.GPU = in.devices, record.GPUInfo{Source: sourceFile, IntervalS: usualGap(samples), Import: &how}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z07:00") }

func (a *app) writeSamples(dir string, m record.Manifest, samples []record.Sample) ([]record.Part, error) {
	w, err := parquet.NewSampleWriter(dir, parquet.Identity{Experiment: m.Experiment, RunID: m.RunID, Cell: m.Cell}, a.now)
	if err != nil {
		return nil, err
	}
	for _, s := range samples {
		if err := w.Write(s); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return w.Parts(), nil
}

// usualGap is the median time between two samples of the first device, seconds.
func usualGap(samples []record.Sample) float64 {
	var gaps []float64
	last := -1.0
	for _, s := range samples {
		if s.Device != samples[0].Device {
			continue
		}
		if last >= 0 {
			gaps = append(gaps, s.TS-last)
		}
		last = s.TS
	}
	if len(gaps) == 0 {
		return 0
	}
	slices.Sort(gaps)
	return record.Quantile(gaps, 0.5)
}

// addDeclared adds the samples of a spec whose source is a file, once the run is over.
// The path is the spec's, from its own folder.
func (j *job) addDeclared() error {
	file := j.plan.GPU.Path
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(j.path), file)
	}
	err := j.addSamples(j.dir, &j.manifest, importFlags{file: file, devices: j.plan.GPU.Devices})
	if err != nil {
		j.manifest.GPU.Reason = err.Error()
		return fmt.Errorf("the samples of gpu.path were not added: %w\nrung import %s --gpu FILE adds them later", err, j.dir)
	}
	return nil
}
