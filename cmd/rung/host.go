package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"rung/sinks/record"
)

// thisHost describes the machine, as far as it says anything of itself.
func thisHost() record.Host {
	h := record.Host{OS: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU()}
	h.Name, _ = os.Hostname()
	h.Kernel = firstLine("/proc/sys/kernel/osrelease")
	h.Governor = firstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			h.CPU = strings.TrimSpace(value)
			break
		}
	}
	return h
}

func firstLine(path string) string {
	b, _ := os.ReadFile(path) //nolint:gosec // fixed paths of the kernel's
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(line)
}

// commitOf is the commit that the spec's file stands in, or nil where it stands
// in none or there is no git.
func commitOf(path string) *record.Git {
	dir, file := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	git := func(args ...string) (string, bool) {
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output() //nolint:gosec,noctx // a fixed command; the path comes from the command line
		return string(bytes.TrimSpace(out)), err == nil
	}
	if _, tracked := git("ls-files", "--error-unmatch", "--", file); !tracked {
		return nil
	}
	commit, ok := git("rev-parse", "HEAD")
	if !ok {
		return nil
	}
	changes, ok := git("status", "--porcelain", "--", file)
	return &record.Git{Commit: commit, Clean: ok && changes == ""}
}
