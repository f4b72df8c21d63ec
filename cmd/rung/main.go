package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"
)

// main is the only place that touches the process: its arguments, streams,
// environment, signals and exit status.
func main() {
	// A pager that quits must not take a run with it: a write to it fails instead.
	signal.Ignore(syscall.SIGPIPE)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	interrupts := make(chan struct{}, 2)
	go func() {
		for range signals {
			interrupts <- struct{}{}
		}
	}()
	self, err := os.Executable()
	if err != nil {
		self = os.Args[0]
	}
	a := &app{
		self:       self,
		stdin:      os.Stdin,
		stdout:     os.Stdout,
		stderr:     os.Stderr,
		env:        os.LookupEnv,
		now:        time.Now,
		interrupts: interrupts,
		outTTY:     term.IsTerminal(int(os.Stdout.Fd())),
		errTTY:     term.IsTerminal(int(os.Stderr.Fd())),
		width: func() int {
			for _, f := range []*os.File{os.Stdout, os.Stderr} {
				if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
					return w
				}
			}
			return 0
		},
	}
	os.Exit(a.execute(context.Background(), os.Args[1:]))
}
