package main

import (
	"context"
	"encoding/json"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"rung/results"
	"rung/results/resultstest"
	"rung/runner"
	"rung/runner/memnet"
	"rung/runner/metrics"
	"rung/runner/sim"
	"rung/sinks/record"
	"rung/spec"
	"rung/spec/plan"
)

// dialler is a way to a server.
type dialler = func(ctx context.Context, network, address string) (net.Conn, error)

// virtual runs a spec, which has a simulator, in virtual time and gives its report.
func virtual(t *testing.T, text string, vars map[string]string) *results.Report {
	t.Helper()
	run := virtualRun(t, text, vars, func(d dialler) dialler { return d })
	return results.Analyse(run, run.Plan.Analysis)
}

// virtualRun does the same and gives the run. The client goes by the way that by makes
// of the server's own.
func virtualRun(t *testing.T, text string, vars map[string]string, by func(dialler) dialler) *results.Run {
	t.Helper()
	res, diags := spec.Load("virtual.hcl", spec.Options{Vars: vars, ReadFile: func(string) ([]byte, error) { return []byte(text), nil }})
	if diags.HasErrors() {
		t.Fatal(diags.Errors())
	}
	var run *resultstest.Recorded
	synctest.Test(t, func(t *testing.T) {
		v := &memnet.Net{}
		ln, _ := v.Listen(t.Context())
		p, cell := res.Plan, res.Plan.Cells[0]
		server := sim.Serve(t.Context(), ln, sim.Config{Params: *p.Simulator, Seed: p.Seed, Model: p.Target.Model, Listen: v.Listen, Gather: time.Microsecond})
		defer server.Close()
		p.Target.URL = "http://simulated"
		cfg := runner.Config{Plan: p, Cell: cell, Dial: by(v.Dial), Server: server, Texts: res.Texts}
		if p.GPU.Source != "none" {
			cfg.Sampler = server.Card()
		}
		if p.Metrics != nil {
			page, err := metrics.New(p, plan.Secrets{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer page.Close()
			page.DialBy(v.Dial)
			cfg.Metrics = page
		}
		prepared, err := runner.Prepare(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer prepared.Close()
		run = &resultstest.Recorded{Run: results.Run{Plan: res.Plan, Manifest: manifestOf(res, prepared)}}
		if cfg.Sampler != nil {
			run.Manifest.GPUs = server.Card().Devices()
		}
		if _, err := prepared.Run(t.Context(), t.Context(), func(it record.Item) {
			switch {
			case it.Request != nil:
				run.Requests = append(run.Requests, *it.Request)
			case it.Sample != nil:
				run.Samples = append(run.Samples, *it.Sample)
			case it.Event != nil:
				run.Events = append(run.Events, *it.Event)
			case it.Server != nil:
				run.Metrics = append(run.Metrics, *it.Server)
			}
		}); err != nil {
			t.Error(err)
		}
	})
	return run.Sealed()
}

func manifestOf(res spec.Result, p *runner.Prepared) record.Manifest {
	raw, _ := json.Marshal(res.Plan)
	return record.Manifest{SchemaVersion: record.SchemaVersion, Simulated: true, Experiment: res.Plan.Experiment, RunID: "virtual", Status: record.Done,
		SpecHash: res.Plan.SpecHash, WorkloadHash: res.Plan.Cells[0].WorkloadHash, PlanDigest: res.Plan.Digest(), Plan: raw, Server: p.Server(),
		GPU: record.GPUInfo{Source: "simulator", IntervalS: res.Plan.GPU.Interval.Seconds()}}
}
