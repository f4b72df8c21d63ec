package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rung/runner/gpu"
	"rung/sinks/parquet"
	"rung/sinks/record"
)

// sampleName is the experiment under which samples without a run are recorded.
const sampleName = "sample"

// sampleFlags are those of rung sample.
type sampleFlags struct {
	out      string
	interval time.Duration
	devices  []string
	most     time.Duration
	probe    bool
}

func (a *app) sample() *cobra.Command {
	f := sampleFlags{interval: 200 * time.Millisecond}
	c := &cobra.Command{
		Use:   "sample --out DIR | --probe",
		Short: "Record a GPU host's cards, for a run that is made from elsewhere",
		Long: `Reads the cards of this machine through NVML and records them in a new folder,
DIR/sample/<begin>/, whose path it prints, until it is interrupted. A part is
written each minute, and a journal kept of what is in none yet, so that a crash
takes about a fifth of a second.
rung import adds the recording to a run that was made from another machine.

With --probe it prints what each card tells, and how often that changes.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case f.interval < 10*time.Millisecond || f.interval > time.Hour:
				return usage("--interval is %s, and may be from 10ms to 1h", f.interval)
			case f.probe:
				return a.probe(cmd.Context(), f)
			case f.out == "":
				return usage("--out names the folder of the recording; or --probe prints what the cards tell")
			}
			return a.recordCards(cmd.Context(), f)
		},
	}
	c.Flags().StringVar(&f.out, "out", "", "`folder` that the recording is written to")
	must(c.MarkFlagDirname("out"))
	c.Flags().DurationVar(&f.interval, "interval", f.interval, "between two samples of a card")
	c.Flags().StringArrayVar(&f.devices, "device", nil, "this device alone, by its `UUID or index`; may be given several times")
	c.Flags().DurationVar(&f.most, "for", 0, "end after so long; without it the recording is endless")
	c.Flags().BoolVar(&f.probe, "probe", false, "print what each card tells, and record nothing")
	return c
}

// recordCards samples until it is interrupted.
func (a *app) recordCards(ctx context.Context, f sampleFlags) error {
	cards, err := gpu.OpenChild(samplerArgs(a.self, f.devices), samplerPatience)
	if err != nil {
		return failed(err)
	}
	defer cards.Close() //nolint:errcheck // the samples are written; nothing depends on how the library ends
	begin := a.now()
	dir, id, err := parquet.CreateRun(f.out, sampleName, nameOf(cards.Devices()), "", a.now)
	if err != nil {
		return failed(err)
	}
	m := record.Manifest{
		SchemaVersion: record.SchemaVersion, Rung: release + revision(), Experiment: sampleName, RunID: id, Status: record.Running,
		Began: begin.UTC(), Host: thisHost(), GPU: record.GPUInfo{Source: cards.Source(), IntervalS: f.interval.Seconds()}, GPUs: cards.Devices(), Parts: []record.Part{},
	}
	if err := parquet.WriteManifest(dir, m); err != nil {
		return failed(err)
	}
	w, err := parquet.NewRecording(dir, parquet.Identity{Experiment: sampleName, RunID: id}, a.now)
	if err != nil {
		return failed(err)
	}
	a.say("sampling %d devices every %s; an interrupt ends it", len(m.GPUs), f.interval)
	r := recording{cards: cards, to: w, interval: f.interval, stop: a.interrupts}
	if f.most > 0 {
		timed, cancel := context.WithTimeout(ctx, f.most)
		defer cancel()
		ctx = timed
	}
	err = errors.Join(r.run(ctx), w.Close())
	ended := a.now().UTC()
	m.Ended, m.Status, m.Parts, m.Counts.Samples, m.GPU.Late = &ended, record.Done, w.Parts(), r.samples, r.late
	if err != nil {
		m.Status, m.Error = record.Failed, err.Error()
	}
	if werr := parquet.WriteManifest(dir, m); werr != nil {
		err = errors.Join(err, werr)
	} else {
		err = errors.Join(err, w.End())
	}
	fmt.Fprintln(a.stdout, dir) //nolint:errcheck // a closed stdout has no reader
	return failed(err)
}

// nameOf stands in a recording's name where a run has its spec: the cards'.
func nameOf(devices []record.Device) string {
	var all []string
	for _, d := range devices {
		all = append(all, d.UUID)
	}
	sum := sha256.Sum256([]byte(strings.Join(all, "\n")))
	return hex.EncodeToString(sum[:])
}

// recording writes samples as they come.
type recording struct {
	cards    *gpu.Child
	to       *parquet.SampleWriter
	interval time.Duration
	stop     <-chan struct{}
	began    time.Time
	samples  int64
	late     int // or left out, because one before took so long
}

// run samples until it is stopped, or a card or the disk fails.
func (r *recording) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-r.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	r.began = time.Now()
	return watch(ctx, r.cards, r.interval, r.take)
}

// take writes one sample of each card.
func (r *recording) take(samples []record.Sample, missed int) error {
	r.late += missed
	for _, s := range samples {
		s.TS = s.Time.Sub(r.began).Seconds()
		if err := r.to.Write(s); err != nil {
			return err
		}
		r.samples++
	}
	return nil
}

// watch reads the cards each interval and has each reading taken, until the context ends,
// or take or the cards fail.
func watch(ctx context.Context, cards *gpu.Child, interval time.Duration, take func(samples []record.Sample, missed int) error) error {
	failing, fail := context.WithCancelCause(context.WithoutCancel(ctx))
	defer fail(nil)
	err := cards.Start(interval, func(samples []record.Sample, missed int) {
		if failing.Err() != nil {
			return
		}
		if err := take(samples, missed); err != nil {
			fail(err)
		}
	}, fail)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
	case <-failing.Done():
	}
	cards.Stop()
	return context.Cause(failing)
}
