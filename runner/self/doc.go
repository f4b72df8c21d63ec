// Package self watches the instrument: what rung itself takes of the machine, how late
// its own timers come, whether the wall clock steps, and how fast it can go at all
// against a server that costs nothing. A figure that the client bound is not the
// server's.
package self
