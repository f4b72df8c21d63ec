// Package server starts a server for a run, waits until it is ready, keeps what it
// prints, starts it again and ends it with all that it started.
//
//  1. Start refuses an address at which something listens already.
//  2. The command runs in a process group of its own; what it prints goes to a log,
//     line by line, bounded, without the run's secrets.
//  3. It is ready when what the spec names is there (a line, a port, a page) and then
//     a request is answered. One that ends before, or takes too long, is an error with
//     its last lines, and is ended whole.
//  4. Stop asks the group to end, and after the grace kills it.
package server
