//go:build unix

package smi

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a process a group of its own, so that what it starts ends with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends a process and all of its group.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
