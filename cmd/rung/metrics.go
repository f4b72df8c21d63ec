package main

import (
	"rung/runner/gpu/dcgm"
	"rung/runner/metrics"
	"rung/runner/target"
	"rung/sinks/record"
	"rung/spec/plan"
)

// simulatedMetrics points a block metrics at the simulated server's page: the one that
// the spec names is of a server that is not measured.
func simulatedMetrics(m *plan.Metrics) *plan.Metrics {
	if m == nil {
		return nil
	}
	return &plan.Metrics{Path: "/metrics", Interval: m.Interval}
}

// openMetrics makes the reader of the server's own metrics, where the spec declares it.
// Whether there is a page is seen as the run goes on: a server without one is measured
// all the same.
func (j *job) openMetrics() error {
	m := j.plan.Metrics
	if m == nil {
		return nil
	}
	reader, err := j.readerOf(j.plan)
	if err != nil {
		return usage("%s", err)
	}
	j.metrics = reader
	j.metricsInfo = &record.MetricsInfo{Page: reader.Shown(), IntervalS: m.Interval.Seconds()}
	return nil
}

// readerOf makes the reader of a plan's page of metrics, which knows the server as the
// target does.
func (j *job) readerOf(p plan.Plan) (*metrics.Reader, error) {
	known, err := target.TLS(p.Target.TLS)
	if err != nil {
		return nil, err
	}
	return metrics.New(p, j.secrets(), known)
}

// openExporter opens the page of a DCGM exporter, which a spec always declares.
func (j *job) openExporter() error {
	g := j.plan.GPU
	e, err := dcgm.Open(dcgm.Options{URL: g.URL, Devices: g.Devices})
	if err != nil {
		return failed(err)
	}
	j.sampler, j.gpu = e, record.GPUInfo{Source: sourceDCGM, IntervalS: g.Interval.Seconds()}
	return nil
}
