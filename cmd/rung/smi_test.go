//go:build cgo && linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"rung/results"
	"rung/runner/gpu/gputest"
	"rung/sinks/record"
)

// smiSpec is a spec whose samples come from a program, or from a file.
func smiSpec(gpu string) string {
	return `
experiment "smi" {}
variable "url" { default = "" }
target {
  api   = "openai-embeddings"
  model = "m"
  url   = var.url
}
gpu {
` + gpu + `
  interval = "20ms"
}
prompt "p" { tokens = 8 }
baseline {
  idle     = "500ms"
  warmup   = 1
  requests = 5
}
ladder "batch" {
  rungs    = [1, 2]
  rounds   = 10
  cooldown = "600ms"
}
`
}

const (
	smiHeader = `echo 'timestamp, index, uuid, name, memory.total [MiB], memory.used [MiB], memory.free [MiB], utilization.gpu [%], power.draw [W], temperature.gpu'`
	smiStamp  = `$(date '+%Y/%m/%d %H:%M:%S.%N' | cut -c1-23)`
)

// smiTool is a program in nvidia-smi's place: it says rows until there is the file, and
// then does what ends it.
func smiTool(t *testing.T, row, file, last string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "nvidia-smi")
	said := fmt.Sprintf(`echo "%s, 0, GPU-a, %s"`, smiStamp, row)
	script := "#!/bin/sh\n" + smiHeader + "\n" + said + "\ncase \"$*\" in *-lms*) ;; *) exit 0;; esac\nwhile [ ! -e " + file + " ]; do sleep 0.02; " + said + "; done\n" + last + "\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	return "source = \"nvidia-smi\"\n  command = [\"" + path + "\"]"
}

// ran runs a spec to its end against a simulated server.
func ran(t *testing.T, spec string, batch func(int)) *results.Run {
	t.Helper()
	dir, stderr := runProcess(t, spec, scripted(t, batch))
	run, err := results.Open(dir)
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	return run
}

// A card that shares its memory with the host is there, and its memory is not known.
func TestCase61(t *testing.T) {
	run := ran(t, smiSpec(smiTool(t, "NVIDIA GB10, [N/A], [N/A], [N/A], 0 %, 11.17 W, 35", "/no/such/file", "exec sleep 60")), func(int) {})
	m := run.Manifest
	if m.GPU.Source != "nvidia-smi" || len(m.GPUs) != 1 || m.GPUs[0].Name != "NVIDIA GB10" || strings.Join(m.GPUs[0].Unsupported, ",") != "mem_free_bytes,mem_total_bytes,mem_used_bytes" {
		t.Errorf("%+v", m.GPUs)
	}
	if len(run.Samples) < 3 || run.Samples[0].MemUsedBytes != nil || *run.Samples[0].PowerW != 11.17 || *run.Samples[0].UtilGPUPct != 0 {
		t.Fatalf("%d samples", len(run.Samples))
	}
	rep := results.Analyse(run, run.Plan.Analysis)
	if !strings.Contains(rep.Memory.Reason, "gives no memory in use") || rep.Ladders[0].Rungs[0].Memory != nil {
		t.Errorf("%+v", rep.Memory)
	}
}

// A card that is lost, or a tool that ends with bytes of another encoding, ends the
// samples and not the run; a tool that is not there ends it before it begins.
func TestCase67(t *testing.T) {
	for last, words := range map[string]string{
		"echo 'Unable to determine the device handle for GPU 0000:01:00.0: Unknown Error'; exec sleep 60": "Unable to determine the device handle",
		`printf '\343\203 weg\n' >&2; exit 127`:                                                           "exit status 127: \uFFFD weg",
	} {
		file := filepath.Join(t.TempDir(), "end")
		run := ran(t, smiSpec(smiTool(t, "A, 1000 MiB, 10 MiB, 990 MiB, 0 %, 11.17 W, 35", file, last)), func(int) { _ = os.WriteFile(file, nil, 0o600) })
		lost := 0
		for _, e := range run.Events {
			if e.Kind == record.GPULost && strings.Contains(e.Reason, words) {
				lost++
			}
		}
		if run.Manifest.Status != record.Done || len(run.Samples) == 0 || lost != 1 || !strings.Contains(run.Manifest.GPU.Warnings, words) {
			t.Errorf("%s: %s, %d samples, %d events, %q", last, run.Manifest.Status, len(run.Samples), lost, run.Manifest.GPU.Warnings)
		}
	}
	folder := t.TempDir()
	spec := filepath.Join(folder, "spec.hcl")
	missing := smiSpec(`source = "nvidia-smi"
  command = ["/bin/sh", "-c", "printf '\\343\\203 weg' >&2; exit 127"]`)
	if err := os.WriteFile(spec, []byte(missing), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Args = []string{"rung", "run", "--var", "url=http://127.0.0.1:1", "--out", folder, spec}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "/bin/sh ended with exit status 127: \uFFFD weg") {
		t.Errorf("%v: %s", err, out)
	}
}

// The recording of a GPU host, and what is made of it.
func TestSampleScript(t *testing.T) {
	library := gputest.Compile(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata/nvml",
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, "LD_LIBRARY_PATH="+filepath.Dir(library), gputest.Variable+"="+filepath.Join(e.WorkDir, "state"), "LC_ALL=C.UTF-8")
			return nil
		},
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": cmdExits},
		RequireExplicitExec: true,
	})
}

// A file that another program wrote while the run went on is read when it ends.
func TestFileSource(t *testing.T) {
	path := filepath.Join(t.TempDir(), "samples.csv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	fmt.Fprintln(f, "timestamp, index, uuid, name, memory.total [MiB], memory.used [MiB]")
	quit := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for {
			fmt.Fprintf(f, "%s, 0, GPU-a, A, 1000 MiB, 10 MiB\n", time.Now().Format("2006/01/02 15:04:05.000"))
			select {
			case <-quit:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
	run := ran(t, smiSpec("source = \"file\"\n  path = \""+path+"\""), func(int) {})
	close(quit)
	writer.Wait()
	how := run.Manifest.GPU.Import
	if how == nil || how.Method != record.WallClocks || how.OffsetS != 0 || len(how.SHA256) != 64 || run.Manifest.GPU.Source != "file" || run.Manifest.Counts.Samples != int64(len(run.Samples)) {
		t.Errorf("%+v", run.Manifest.GPU)
	}
	rep := results.Analyse(run, run.Plan.Analysis)
	for _, r := range rep.Ladders[0].Rungs {
		if r.Memory == nil || r.Memory.PeakBytes != 10<<20 {
			t.Errorf("%+v", r)
		}
	}
	if rep.Baseline.IdleBytes == nil || *rep.Baseline.IdleBytes != 10<<20 {
		t.Errorf("%+v", rep.Baseline)
	}
}
