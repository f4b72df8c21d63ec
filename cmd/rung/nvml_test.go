//go:build cgo && linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"rung/results"
	"rung/runner/gpu/gputest"
	"rung/runner/sim"
	"rung/sinks/parquet"
	"rung/sinks/record"
	"rung/spec/plan"
)

const nvmlSpec = `
experiment "nvml" {}
variable "url" { default = "" }
target {
  api   = "openai-embeddings"
  model = "m"
  url   = var.url
}
gpu {
  source   = "nvml"
  devices  = ["GPU-fake"]
  interval = "10ms"
}
prompt "p" { tokens = 8 }
baseline {
  idle     = "50ms"
  warmup   = 1
  requests = 5
}
ladder "batch" {
  rungs    = [1, 2, 4, 8]
  rounds   = 10
  cooldown = "20ms"
}
`

// The real path of NVML, on a fake library that the test compiles: what a card
// holds follows a script by the batch, and the report shows those peaks at those
// rungs. What the card lacks is null, not 0.
func TestFakeNVML(t *testing.T) {
	library := gputest.Compile(t)
	state := gputest.NewState(t)
	const total = 80 << 30
	idle := int64(10 << 30)
	peaks := map[int]int64{1: 11 << 30, 2: 13 << 30, 4: 19<<30 + 7, 8: 31 << 30}
	set := func(used int64) {
		state.Write(
			fmt.Sprintf(`device 0 uuid GPU-other name "Other card" total %d used %d`, total, total/2),
			fmt.Sprintf(`device 1 uuid GPU-fake name "Fake card" total %d used %d reserved %d util 50 temp 60 sm 1980 mem 2619`, total, used, 1<<28),
			"lacks power", "lacks energy")
	}
	set(idle)
	url := scripted(t, func(batch int) { set(peaks[batch]) })

	dir, stderr := runProcess(t, nvmlSpec, url, "LD_LIBRARY_PATH="+filepath.Dir(library))
	run, err := results.Open(dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	rep := results.Analyse(run, run.Plan.Analysis)
	if got := rep.Baseline.IdleBytes; got == nil || *got != idle {
		t.Errorf("idle %v, want %d", got, idle)
	}
	for _, r := range rep.Ladders[0].Rungs {
		if r.Memory == nil || r.Memory.PeakBytes != peaks[int(r.Value)] {
			t.Errorf("rung %g: peak %+v, want %d (%s)", r.Value, r.Memory, peaks[int(r.Value)], r.MemoryReason)
		}
	}
	m, err := parquet.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.GPUs) != 1 || m.GPUs[0].UUID != "GPU-fake" || m.GPUs[0].Name != "Fake card" || m.Simulated {
		t.Errorf("GPUs %+v", m.GPUs)
	}
	for _, column := range []string{"power_w", "energy_j"} {
		if !slices.Contains(m.GPUs[0].Unsupported, column) {
			t.Errorf("%s is not among the unsupported: %v", column, m.GPUs[0].Unsupported)
		}
	}
	samples, err := parquet.ReadSamples(dir, m)
	if err != nil || len(samples) == 0 {
		t.Fatalf("%d samples, %v", len(samples), err)
	}
	for _, s := range samples {
		if s.PowerW != nil || s.EnergyJ != nil || s.UtilGPUPct == nil || *s.UtilGPUPct != 50 || s.MemCall != "v2" {
			t.Fatalf("sample %+v", s)
		}
	}
}

// scripted is the simulated server behind a proxy that tells of each batch
// before it is run.
func scripted(t *testing.T, batch func(int)) string {
	t.Helper()
	params := plan.DefaultSimulator()
	params.Floor, params.Overhead, params.Noise = 3_000_000, 0, 0
	server, err := sim.Start(t.Context(), "127.0.0.1:0", sim.Config{Params: params, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	to, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	const beforeLadder = 1 + 1 + 5 // probe, warm-up and baseline leave the card as it was
	var requests atomic.Int64
	proxy := httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		var in struct {
			Input []json.RawMessage `json:"input"`
		}
		if json.Unmarshal(body, &in) == nil && len(in.Input) > 0 && requests.Add(1) > beforeLadder {
			batch(len(in.Input))
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return front.URL
}

// runProcess runs a spec in a process of its own, as the library's path has to be
// set before a process starts.
func runProcess(t *testing.T, spec, url string, env ...string) (dir, stderr string) {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, "spec.hcl")
	if err := os.WriteFile(path, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Args = []string{"rung", "run", "--var", "url=" + url, "--out", folder, path}
	cmd.Env = append(os.Environ(), env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	return strings.TrimSpace(out.String()), errs.String()
}

// eightCards is the state of eight devices, of which each holds its own share of what a
// batch takes; the fourth is the fullest.
func eightCards(used int64, more ...string) []string {
	var lines []string
	for i := range int64(8) {
		held := used / 2
		if i == 3 {
			held = used
		}
		lines = append(lines, fmt.Sprintf(`device %d uuid GPU-%d name "Card %d" total %d used %d reserved %d util 50`, i, i, i, int64(80)<<30, held+i, 1<<28))
	}
	return append(lines, more...)
}

// Eight cards, each with a script of its own: what each held at a rung is in the table,
// and the report is of the one with the least room.
func TestEightFakeCards(t *testing.T) {
	ownProcesses(t)
	library := gputest.Compile(t)
	state := gputest.NewState(t)
	idle := int64(10 << 30)
	peaks := map[int]int64{1: 12 << 30, 2: 14 << 30, 4: 20 << 30, 8: 32 << 30}
	state.Write(eightCards(idle)...)
	url := scripted(t, func(batch int) { state.Write(eightCards(peaks[batch])...) })
	dir, stderr := runProcess(t, strings.Replace(nvmlSpec, `  devices  = ["GPU-fake"]`+"\n", "", 1), url, "LD_LIBRARY_PATH="+filepath.Dir(library))
	run, err := results.Open(dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	rep := results.Analyse(run, run.Plan.Analysis)
	if rep.Memory.Devices != 8 || rep.Memory.DeviceName != "Card 3" {
		t.Errorf("%d devices, of which %q is the fullest", rep.Memory.Devices, rep.Memory.DeviceName)
	}
	for _, r := range rep.Ladders[0].Rungs {
		if want := peaks[int(r.Value)] + 3; r.Memory == nil || r.Memory.PeakBytes != want {
			t.Errorf("rung %g: peak %+v, want %d (%s)", r.Value, r.Memory, want, r.MemoryReason)
		}
	}
	most := map[int]map[float64]int64{}
	for _, s := range run.Samples {
		if s.Phase == record.Measure {
			if most[s.Device] == nil {
				most[s.Device] = map[float64]int64{}
			}
			most[s.Device][s.Value] = max(most[s.Device][s.Value], *s.MemUsedBytes)
		}
	}
	for device, at := range most {
		for batch, peak := range peaks {
			want := peak/2 + int64(device)
			if device == 3 {
				want = peak + 3
			}
			if at[float64(batch)] != want {
				t.Errorf("device %d at batch %d held %d, want %d", device, batch, at[float64(batch)], want)
			}
		}
	}
	if len(most) != 8 {
		t.Errorf("%d devices in the table", len(most))
	}
}

// Whatever the driver does in the middle of a run, the run ends well: the samples end with
// a reason, and what was measured is reported.
func TestDriverFailsInARun(t *testing.T) {
	ownProcesses(t)
	library := gputest.Compile(t)
	for name, c := range map[string]struct{ line, reason string }{
		"lost":    {"fail temp 15", "fake error 15"},
		"crashes": {"crash temp", "fake driver: crashing at temp"},
		"hangs":   {"hang temp", "did not answer within"},
	} {
		t.Run(name, func(t *testing.T) {
			state := gputest.NewState(t)
			state.Write(eightCards(10 << 30)...)
			url := scripted(t, func(batch int) {
				if batch == 4 {
					state.Write(eightCards(10<<30, c.line)...)
				}
			})
			dir, stderr := runProcess(t, strings.Replace(nvmlSpec, `  devices  = ["GPU-fake"]`+"\n", "", 1), url, "LD_LIBRARY_PATH="+filepath.Dir(library))
			run, err := results.Open(dir)
			if err != nil {
				t.Fatalf("%v\n%s", err, stderr)
			}
			reason := ""
			for _, e := range run.Events {
				if e.Kind == record.GPULost {
					reason = e.Reason
				}
			}
			if !strings.Contains(reason, c.reason) || run.Manifest.Status != record.Done || run.Manifest.GPU.Warnings == "" {
				t.Errorf("%q, status %q, warnings %q", reason, run.Manifest.Status, run.Manifest.GPU.Warnings)
			}
			if rep := results.Analyse(run, run.Plan.Analysis); len(rep.Ladders[0].Rungs) != 4 || len(run.Samples) < 8 {
				t.Errorf("%d rungs, %d samples", len(rep.Ladders[0].Rungs), len(run.Samples))
			}
		})
	}
}
