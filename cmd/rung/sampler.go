package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"rung/runner/gpu"
)

// samplerCommand is the name under which rung starts itself to read NVML.
const samplerCommand = "gpu-sampler"

// samplerPatience is how long a reading of the GPU may take before the samples end.
const samplerPatience = 5 * time.Second

// sampler is the process that reads NVML for a run. A person has no use for it.
func (a *app) sampler() *cobra.Command {
	var devices []string
	c := &cobra.Command{
		Use:    samplerCommand,
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return failed(gpu.Serve(a.stdin, a.stdout, gpu.Options{Devices: devices}))
		},
	}
	c.Flags().StringArrayVar(&devices, "device", nil, "UUID or index")
	return c
}

// samplerArgs start it.
func samplerArgs(self string, devices []string) []string {
	args := []string{self, samplerCommand}
	for _, d := range devices {
		args = append(args, "--device="+strings.TrimSpace(d))
	}
	return args
}
