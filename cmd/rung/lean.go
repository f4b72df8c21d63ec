package main

import (
	"math"
	"runtime/debug"
	"runtime/metrics"

	"rung/results"
)

const (
	leanPercent = 25        // garbage beside what is held, while a run is read
	leastLimit  = 480 << 20 // bytes, and afterwards: what a report may take before it gives memory back at once
)

// openLean opens a run with the garbage collector close behind. A large run is some hundreds
// of megabytes which stay until the report is done: by its default the collector would let
// as much again pile up beside them. A limit of the user's own (GOMEMLIMIT) stands.
func (a *app) openLean(dir string) (*results.Run, error) {
	if _, ok := a.env("GOMEMLIMIT"); ok {
		return results.Open(dir)
	}
	debug.SetMemoryLimit(math.MaxInt64) // that of a run which was opened before
	usual := debug.SetGCPercent(leanPercent)
	run, err := results.Open(dir)
	debug.SetGCPercent(usual)
	debug.SetMemoryLimit(max(leastLimit, liveHeap()/100*(100+leanPercent)))
	return run, err
}

// liveHeap is how many bytes were in use when garbage was last collected.
func liveHeap() int64 {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return int64(live[0].Value.Uint64()) //nolint:gosec // a machine has less
}
