//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"rung/results/resultstest"
	"rung/spec/plan"
)

// BenchmarkReport reports a run of RUNG_ROWS requests, ten million by default, in a process
// of its own. Where RUNG_DUCKDB is a Python that has DuckDB, the aggregates that a report
// rests on are taken by it from the same files: seconds and peak memory stand beside.
func BenchmarkReport(b *testing.B) {
	n := 10_000_000
	if text := os.Getenv("RUNG_ROWS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	dir := largeRun(b, n)
	for b.Loop() {
		seconds, mib := resources(b, exec.CommandContext(b.Context(), "rung", "report", "--json", dir)) //nolint:gosec // the test's own program
		b.ReportMetric(seconds, "s")
		b.ReportMetric(mib, "MiB")
		python := os.Getenv("RUNG_DUCKDB")
		if python == "" {
			b.Log("without RUNG_DUCKDB nothing stands beside")
			continue
		}
		duck, duckMiB := resources(b, exec.CommandContext(b.Context(), python, "testdata/aggregates.py", dir)) //nolint:gosec // as above
		b.ReportMetric(duck, "duckdb-s")
		b.ReportMetric(duckMiB, "duckdb-MiB")
		b.ReportMetric(seconds/duck, "over-duckdb")
	}
	b.ReportMetric(float64(n), "rows")
}

// largeRun records a concurrency ladder of about n requests of a generating model, with its
// server's page and a card.
func largeRun(b *testing.B, n int) string {
	b.Helper()
	const rounds, part = 4, 100_000 // requests that a visit of a rung has
	values := []float64{1, 2, 4, 8, 16, 32}
	passes := max(1, n/part/len(values))
	dir, err := resultstest.WriteLarge(resultstest.Options{
		API: plan.OpenAIChat, Chat: true, Noise: 0.1,
		Service: func(plan.Shape) float64 { return 0.01 },
		Page: func(s plan.Shape) map[string]float64 {
			return map[string]float64{"running": float64(min(s.InFlight, 4)), "waiting": float64(max(0, s.InFlight-4))}
		},
		Ladders: []plan.Ladder{resultstest.Ladder("concurrency", plan.AxisConcurrency, passes, rounds, n/passes/len(values)/rounds, values...)},
	}, b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	return dir
}

// resources runs a command and gives its time and its greatest resident memory.
func resources(b *testing.B, cmd *exec.Cmd) (seconds, mib float64) {
	b.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, io.Discard
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case err := <-done:
			if err != nil || !json.Valid(out.Bytes()) {
				b.Fatalf("%v: %v, or no JSON", cmd.Args, err)
			}
			return time.Since(begin).Seconds(), mib
		case <-time.After(10 * time.Millisecond):
			mib = max(mib, peakMiB(cmd.Process.Pid))
		}
	}
}

// peakMiB is the greatest resident memory of a process so far; 0 where it is gone. What wait
// tells would have this process' own in it.
func peakMiB(pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kib float64
	_, _ = fmt.Sscan(rest, &kib)
	return kib / 1024
}
