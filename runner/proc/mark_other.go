//go:build !linux

package proc

import "time"

// Mark knows a group of processes again; on this system nothing does.
type Mark struct{}

// MarkOf is false: the system does not tell.
func MarkOf(int) (Mark, bool) { return Mark{}, false }

// Left is false: nothing is known.
func (Mark) Left(time.Time) bool { return false }

// End does nothing.
func (Mark) End(time.Time, time.Duration) bool { return false }
