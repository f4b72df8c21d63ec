package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"rung/spec"
)

// app is the program apart from the process that it runs in.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            func(string) (string, bool)
	now            func() time.Time
	interrupts     <-chan struct{} // one a signal: the first drains, the second aborts
	outTTY, errTTY bool
	width          func() int // of the terminal; 0: there is none
	self           string     // the program's own file, to start it again as its sampler
}

// The exit statuses.
const (
	exitOK          = 0
	exitFailed      = 1   // the run failed
	exitUsage       = 2   // spec or command line wrong
	exitGate        = 3   // a gate tripped or was not evaluable; --strict found the result invalid
	exitInterrupted = 130 // interrupted
	exitPipe        = 141 // the reader of the output went away, as shells have it
)

// statusError is an error that says with which status the program ends. Its text
// may be empty where everything was said already.
type statusError struct {
	status int
	err    error
}

func (e statusError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e statusError) Unwrap() error { return e.err }

// failed is a run that failed; nil stays nil.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return statusError{exitFailed, err}
}

func usage(format string, args ...any) error {
	return statusError{exitUsage, fmt.Errorf(format, args...)}
}

// execute runs one command line and returns the exit status.
func (a *app) execute(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		return exitOK
	}
	if errors.Is(err, syscall.EPIPE) { // whoever read has seen enough
		return exitPipe
	}
	s, ok := errors.AsType[statusError](err)
	status := s.status
	if !ok { // what cobra itself refuses is the command line
		status = exitUsage
		err = fmt.Errorf("%w; see %s --help", err, cmd.CommandPath())
	}
	if text := err.Error(); text != "" {
		width := 0 // what a program reads keeps its line
		if a.errTTY {
			width = a.columns()
		}
		a.say("%s", strings.Join(spec.Wrap("rung: "+text, width), "\n"))
	}
	return status
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "rung",
		Short: "Measure how hard an inference server can be driven",
		Long: `rung reads an experiment from an HCL file, sends exactly the requests that it
declares to an inference server, and records every request and every GPU sample
as Parquet. A separate step, rung report, finds from where more no longer pays,
where the server fails, and how much memory stays free.

rung help language is the reference of what a spec may say.

Exit status: 0 done, an edge reached included; 1 the run failed; 2 the spec or
the command line is wrong; 3 a gate tripped or was not
evaluable, or report --strict found the result invalid; 130
interrupted.`,
		Example: `  rung check experiment.hcl
  rung run experiment.hcl
  rung report results/first`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetHelpCommand(a.help(root))
	root.AddCommand(a.check(), a.plan(), a.run(), a.report(), a.config(), a.gate(), a.compare(), a.runs(), a.importing(), a.sample(), a.sim(), a.fmt(), a.schema(), a.version(), a.sampler())
	return root
}

// utf8 says whether the locale can show more than ASCII, by the rules of POSIX:
// the first of these that is set decides.
func (a *app) utf8() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v, ok := a.env(name); ok && v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// say tells the user something beside the result. There is no other place to say
// that it could not be said.
func (a *app) say(format string, args ...any) {
	fmt.Fprintf(a.stderr, format+"\n", args...) //nolint:errcheck // see above
}

// color says whether colours may be written to a terminal.
func (a *app) color(tty bool) bool {
	no, _ := a.env("NO_COLOR")
	dumb, _ := a.env("TERM")
	return tty && no == "" && dumb != "dumb"
}

// columns is the width to write for: the terminal's, COLUMNS, or 100.
func (a *app) columns() int {
	if w := a.width(); w > 0 {
		return w
	}
	if v, ok := a.env("COLUMNS"); ok {
		if w, err := strconv.Atoi(v); err == nil && w >= 40 {
			return w
		}
	}
	return 100
}
