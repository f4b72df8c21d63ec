//go:build unix

// Package proc is what the programs that rung starts have in common: each has a group
// of its own, so that what it starts ends with it, and its first words say why it failed.
package proc

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// OwnGroup gives a process that is to be started a group of its own.
func OwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// Ask asks a process and all of its group to end.
func Ask(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// Kill ends a process and all of its group.
func Kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// Lives says whether any process of the group runs. One that has ended and that
// nobody has taken note of yet, a zombie, still answers to a signal and does not.
func Lives(cmd *exec.Cmd) bool {
	group := cmd.Process.Pid
	if syscall.Kill(-group, 0) != nil {
		return false
	}
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return true // no such file system: the signal is all that there is
	}
	for _, path := range stats {
		if s, ok := statOf(path); ok && s.group == group && s.state != "Z" { // else it ended meanwhile
			return true
		}
	}
	return false
}

// stat is what the system tells of a process.
type stat struct {
	pid, group int
	state      string
	began      uint64 // clock ticks since the machine started
}

func statOf(path string) (s stat, ok bool) {
	b, err := os.ReadFile(path)
	end := bytes.LastIndexByte(b, ')') // "pid (name) state parent group …"; the name may hold anything
	if err != nil || end < 0 {
		return s, false
	}
	const groupField, beganField = 2, 19
	fields := strings.Fields(string(b[end+1:]))
	if len(fields) <= beganField {
		return s, false
	}
	s.state = fields[0]
	s.pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(path)))
	s.group, _ = strconv.Atoi(fields[groupField])
	s.began, err = strconv.ParseUint(fields[beganField], 10, 64)
	return s, err == nil
}
