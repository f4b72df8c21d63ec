package main

import (
	"context"
	"errors"
	"io"

	"rung/runner"
	"rung/runner/gpu"
	"rung/runner/gpu/dcgm"
	"rung/runner/gpu/smi"
	"rung/runner/metrics"
	"rung/runner/server"
	"rung/runner/serverlog"
	"rung/runner/sim"
	"rung/sinks"
	"rung/sinks/parquet"
	"rung/sinks/progress"
	"rung/sinks/record"
	"rung/spec/plan"
)

// Here implementations meet their interfaces.
var (
	_ runner.Sampler = (*gpu.Child)(nil)
	_ runner.Sampler = (*sim.Card)(nil)
	_ runner.Sampler = (*smi.Sampler)(nil)
	_ runner.Server  = (*sim.Server)(nil)
	_ runner.Server  = (*server.Server)(nil)

	_ runner.Sampler       = (*dcgm.Exporter)(nil)
	_ runner.MetricsReader = (*metrics.Reader)(nil)
	_ runner.LogReader     = (*serverlog.Watcher)(nil)
	_ runner.LogReader     = (*serverlog.File)(nil)

	_ sinks.Sink = (*parquet.Writer)(nil)
	_ sinks.Sink = (*progress.Sink)(nil)
)

// startSimulator starts the simulated server on a free port and points the plan
// at it. Its card is the sampler, unless the spec wants none.
func startSimulator(ctx context.Context, j *job, log io.Writer) (*sim.Server, error) {
	params := plan.DefaultSimulator()
	if s := j.plan.Simulator; s != nil {
		params = *s
	}
	server, err := sim.Start(ctx, "127.0.0.1:0", sim.Config{Params: params, Seed: j.plan.Seed, Model: j.plan.Target.Model, Log: log})
	if err != nil {
		return nil, err
	}
	j.plan.Target.URL = server.URL()
	j.plan.Metrics = simulatedMetrics(j.plan.Metrics)
	if s := j.cell.Server; s != nil && len(s.Command) > 0 {
		j.server = server
	}
	if elsewhere(j.plan.GPU.Source) {
		return server, nil
	}
	j.gpu = record.GPUInfo{Source: "simulator", IntervalS: j.plan.GPU.Interval.Seconds()}
	if j.plan.GPU.Source == "none" {
		j.gpu = record.GPUInfo{Source: "none", Reason: noneDeclared}
		return server, nil
	}
	j.sampler = server.Card()
	return server, nil
}

const noneDeclared = "the spec says gpu.source = \"none\""

// supported refuses what a spec may say and can't be done: a run without it would be
// another measurement than the one declared.
func supported(p plan.Plan, simulate bool) error {
	if simulate && p.Target.API == plan.Exec {
		return usage("--simulate has a server and no program to call: target.api = \"exec\" can only be run as it is")
	}
	return nil
}

// openSampler opens what the spec declares. A source that was declared and fails
// is an error; the default that can't load is a warning.
func (j *job) openSampler(ctx context.Context) error {
	g := j.plan.GPU
	if j.simulated && !elsewhere(g.Source) {
		return nil
	}
	switch g.Source {
	case "none":
		j.gpu = record.GPUInfo{Source: "none", Reason: noneDeclared}
		return nil
	case "nvml":
		s, err := gpu.OpenChild(samplerArgs(j.self, g.Devices), samplerPatience)
		switch {
		case err == nil:
			j.sampler, j.gpu = s, record.GPUInfo{Source: "nvml", IntervalS: g.Interval.Seconds()}
			return nil
		case g.Declared || !errors.Is(err, gpu.ErrUnavailable):
			return failed(err)
		}
		j.say("warning: no GPU is sampled: %v", err)
		j.gpu = record.GPUInfo{Source: "none", Reason: err.Error()}
		return nil
	case sourceSMI:
		return j.openSMI(ctx)
	case sourceFile:
		j.gpu = record.GPUInfo{Source: sourceFile}
		return nil
	case sourceDCGM:
		return j.openExporter()
	case "simulator":
		return usage("gpu.source = \"simulator\" goes with the simulated server: run with --simulate, or leave target.url out")
	default:
		return usage("gpu.source %q is not known", g.Source)
	}
}
