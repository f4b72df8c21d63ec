//go:build !unix

package proc

import "os/exec"

// OwnGroup does nothing where there are no groups.
func OwnGroup(*exec.Cmd) {}

// Ask ends a process where none can be asked to.
func Ask(cmd *exec.Cmd) { Kill(cmd) }

// Kill ends a process.
func Kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

// Lives is false: what a process started is not known.
func Lives(*exec.Cmd) bool { return false }
