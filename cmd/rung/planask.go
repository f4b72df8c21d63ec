package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"rung/runner"
	"rung/sinks/record"
	"rung/spec"
	"rung/spec/plan"
)

// ask prepares a run of the first cell and shows what the server said and did. No
// timed request is sent, and nothing is written.
func (a *app) ask(ctx context.Context, path string, res spec.Result, f specFlags) error {
	if err := a.announce(executes(plan.Plan{Target: res.Plan.Target}, nil, false), false); err != nil {
		return err
	}
	drain, abort, stop := a.interruptible(ctx)
	defer stop()
	j := &job{app: a, spec: res, plan: prepared(res.Plan, path), cell: res.Plan.Cells[0], simulated: f.simulate || res.Plan.Simulated()}
	if j.simulated {
		server, err := startSimulator(abort, j, io.Discard)
		if err != nil {
			return failed(err)
		}
		defer server.Close() //nolint:errcheck // nothing depends on how the simulated server ends
	}
	if err := j.prepare(drain); err != nil {
		return failed(err)
	}
	defer j.prepared.Close()
	w := &errWriter{w: a.stdout, plain: !a.utf8()}
	if n := len(res.Plan.Cells); n > 1 {
		w.printf("Asked for the first of %d cells, %s.\n\n", n, j.cell.Name)
	}
	showServer(w, j.prepared)
	cost := measured(j.prepared.Probes())
	var all []spec.Price
	for _, c := range res.Plan.Cells {
		all = append(all, spec.PriceOf(res.Plan, c, cost))
	}
	w.printf("\n")
	showSums(w, all, cost, timed(res.Plan))
	return failed(w.err)
}

// showServer prints what the target said of itself and how it is sent its inputs.
func showServer(w *errWriter, p *runner.Prepared) {
	s := p.Server()
	line := func(name, value string) {
		if value == "" {
			value = "not said"
		}
		w.printf("%-17s %s\n", name, value)
	}
	line("server", strings.TrimSpace(s.Software+" "+s.Version))
	line("models", strings.Join(s.Models, ", "))
	limit := ""
	if s.MaxModelLen != nil {
		limit = fmt.Sprintf("%d tokens", *s.MaxModelLen)
	}
	line("longest input", limit)
	line("tokeniser", s.Tokeniser)
	line("inputs sent as", s.InputForm)
	if s.TemplateExtra > 0 {
		line("template adds", fmt.Sprintf("%d tokens", s.TemplateExtra))
	}
	w.printf("\n")
	for _, r := range p.Probes() {
		w.printf("asked %d input tokens, the server counted %s; %s in %s\n", r.InputTokensPlanned, counted(r.InputTokens), r.Outcome, latency(r))
	}
	for _, text := range p.Warnings() {
		w.printf("warning: %s\n", text)
	}
}

func counted(n *int) string {
	if n == nil {
		return "none"
	}
	return fmt.Sprint(*n)
}

func latency(r record.Request) time.Duration {
	return time.Duration(r.LatencyS() * float64(time.Second)).Round(10 * time.Microsecond)
}

// measured is the cost by the slowest of the requests before a run that came back
// right.
func measured(probes []record.Request) spec.Cost {
	var slowest time.Duration
	what := "no request at all"
	for _, r := range probes {
		if d := latency(r); r.Outcome == record.OK && d > slowest {
			slowest, what = d, fmt.Sprintf("the one of %d input tokens", r.InputTokensPlanned)
		}
	}
	return spec.MeasuredCost(slowest, what)
}
