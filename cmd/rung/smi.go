package main

import (
	"context"

	"rung/runner/gpu/smi"
	"rung/sinks/record"
)

// The sources that need no card on this machine.
const (
	sourceSMI  = "nvidia-smi"
	sourceFile = "file"
	sourceDCGM = "dcgm"
)

// elsewhere says whether a source that a spec names has samples of its own beside a
// simulated server, whose card is then not looked at.
func elsewhere(source string) bool {
	return source == sourceSMI || source == sourceFile || source == sourceDCGM
}

// openSMI starts the program that the spec names.
func (j *job) openSMI(ctx context.Context) error {
	g := j.plan.GPU
	s, err := smi.Open(ctx, smi.Config{Command: g.Command, Devices: g.Devices, Interval: g.Interval.D()})
	if err != nil {
		return failed(err)
	}
	j.sampler, j.gpu = s, record.GPUInfo{Source: sourceSMI, IntervalS: g.Interval.Seconds()}
	return nil
}
