// Package sinks takes the runner's ordered stream and keeps or shows it. A sink
// is owned by one goroutine; the runner never waits for it (see Pump).
package sinks

import "rung/sinks/record"

// Sink takes the items of one run, in order, from one goroutine.
type Sink interface {
	// Write takes one item. An error ends the run: what was written before it
	// stays readable.
	Write(record.Item) error
	// Close writes what is still held. It is called once, after the last Write
	// and also after a Write that failed.
	Close() error
}

// Flusher is a sink that may hold back what it was given. Flush puts it where it outlives
// the process; it is called whenever items run out.
type Flusher interface{ Flush() error }
