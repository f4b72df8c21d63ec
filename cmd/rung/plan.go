package main

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"rung/spec/plan"
)

func (a *app) plan() *cobra.Command {
	var f specFlags
	var asJSON bool
	c := &cobra.Command{
		Use:   "plan SPEC",
		Short: "Show everything that a run of the spec would send",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			res, err := a.load(args[0], f, false)
			if err != nil {
				return err
			}
			if asJSON {
				enc := json.NewEncoder(a.stdout)
				enc.SetIndent("", "  ")
				return failed(enc.Encode(res.Plan))
			}
			return failed(a.showPlan(res.Plan))
		},
	}
	f.add(c.Flags())
	c.Flags().BoolVar(&asJSON, "json", false, "print the plan as JSON")
	return c
}

// planLine is one row of the table that rung plan prints.
type planLine struct {
	ladder, pass, rung         string
	rounds, requests, inFlight int
	tokens, output             int // input tokens, and output tokens asked, all requests
	pause                      time.Duration
}

func (a *app) showPlan(p plan.Plan) error {
	w := &errWriter{w: a.stdout}
	w.printf("experiment %q, seed %d, spec hash %s\n", p.Experiment, p.Seed, p.SpecHash[:12])
	where := p.Target.URL
	switch {
	case p.Simulated():
		where = "the built-in simulated server"
	case where == "":
		where = "(sensitive)"
	}
	w.printf("target %s, model %q, at %s; GPU samples by %s every %s\n\n", p.Target.API, p.Target.Model, where, p.GPU.Source, p.GPU.Interval)
	w.printf("%-16s %-7s %8s %7s %9s  %9s  %12s  %8s\n", "ladder", "pass", "rung", "rounds", "requests", "in flight", "input tokens", "pause")
	var total planLine
	for _, l := range planLines(p.Cells[0]) {
		w.printf("%-16s %-7s %8s %7d %9d  %9d  %12d  %8s\n", clip(l.ladder, 16), l.pass, l.rung, l.rounds, l.requests, l.inFlight, l.tokens, l.pause)
		total.requests += l.requests
		total.tokens += l.tokens
		total.output += l.output
		total.pause += l.pause
	}
	w.printf("\n%d requests, %d input tokens, %severy prompt its own. Pauses alone take %s;\n", total.requests, total.tokens, outputs(total.output), total.pause)
	w.printf("the requests take as long as the server needs. Warm-ups are counted above; rounds\nthat are refused are sent again and come on top, probes too.\n")
	return w.err
}

// planLines lists the stops of a run in order.
func planLines(c plan.Cell) []planLine {
	var out []planLine
	if b := c.Baseline; b != nil {
		n := b.Warmup + b.Requests
		out = append(out, planLine{"(baseline)", "", "", 1, n, 1, n * b.Shape.Batch * b.Shape.InputTokens, n * b.Shape.OutputTokens, b.Idle.D()})
	}
	for _, l := range c.Ladders {
		for _, p := range l.Passes {
			direction := "up"
			if !p.Up {
				direction = "down"
			}
			for _, i := range p.Order {
				r := l.Rungs[i]
				n := r.Warmup + r.Rounds*r.Requests
				out = append(out, planLine{l.Name, fmt.Sprintf("%d %s", p.Index+1, direction), fmt.Sprintf("%g", r.Value),
					r.Rounds, n, r.Shape.InFlight, n * r.Shape.Batch * r.Shape.InputTokens, n * r.Shape.OutputTokens, l.Cooldown.D()})
			}
		}
	}
	return out
}

// outputs says how many output tokens are asked, where any are.
func outputs(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d output tokens at most, ", n)
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}

// errWriter keeps the first error of many writes.
type errWriter struct {
	w   io.Writer
	err error
}

func (e *errWriter) printf(format string, args ...any) {
	if e.err == nil {
		_, e.err = fmt.Fprintf(e.w, format, args...)
	}
}
