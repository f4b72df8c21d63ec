package main

import (
	"context"
	"encoding/json"
	"net"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"rung/results"
	"rung/runner"
	"rung/runner/metrics"
	"rung/runner/sim"
	"rung/sinks/record"
	"rung/spec"
	"rung/spec/plan"
)

// pipes is a network of one listener, without a socket, for runs in virtual time.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8000} }

// virtualServer is the simulated server of a spec, in virtual time: each time that it
// is started it listens anew.
type virtualServer struct{ now *pipes }

func (v *virtualServer) listen(context.Context) (net.Listener, error) {
	v.now = newPipes()
	return v.now, nil
}

func (v *virtualServer) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case v.now.conns <- there:
		return here, nil
	case <-v.now.closed:
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	case <-ctx.Done():
		return nil, &net.OpError{Op: "dial", Net: network, Err: ctx.Err()}
	}
}

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
	var run *results.Run
	synctest.Test(t, func(t *testing.T) {
		v := &virtualServer{}
		ln, _ := v.listen(t.Context())
		p, cell := res.Plan, res.Plan.Cells[0]
		server := sim.Serve(t.Context(), ln, sim.Config{Params: *p.Simulator, Seed: p.Seed, Model: p.Target.Model, Listen: v.listen, Gather: time.Microsecond})
		defer server.Close()
		p.Target.URL = "http://simulated"
		cfg := runner.Config{Plan: p, Cell: cell, Dial: by(v.dial), Server: server, Texts: res.Texts}
		if p.GPU.Source != "none" {
			cfg.Sampler = server.Card()
		}
		if p.Metrics != nil {
			page, err := metrics.New(p, plan.Secrets{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer page.Close()
			page.DialBy(v.dial)
			cfg.Metrics = page
		}
		prepared, err := runner.Prepare(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer prepared.Close()
		run = &results.Run{Plan: res.Plan, Manifest: manifestOf(res, prepared)}
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
	return run
}

func manifestOf(res spec.Result, p *runner.Prepared) record.Manifest {
	raw, _ := json.Marshal(res.Plan)
	return record.Manifest{SchemaVersion: record.SchemaVersion, Simulated: true, Experiment: res.Plan.Experiment, RunID: "virtual", Status: record.Done,
		SpecHash: res.Plan.SpecHash, WorkloadHash: res.Plan.Cells[0].WorkloadHash, PlanDigest: res.Plan.Digest(), Plan: raw, Server: p.Server(),
		GPU: record.GPUInfo{Source: "simulator", IntervalS: res.Plan.GPU.Interval.Seconds()}}
}
