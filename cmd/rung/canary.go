package main

import (
	"fmt"
	"slices"
	"strings"

	"rung/runner"
	"rung/sinks/record"
	"rung/spec"
	"rung/spec/plan"
)

// canary narrows the plan of a spec to the limits that a run found, in that run's cell.
func (a *app) canary(path string, p plan.Plan) (plan.Plan, *record.Canary, error) {
	run, rep, err := a.analysed(path)
	if err != nil {
		return p, nil, err
	}
	cell := run.Manifest.Cell
	i := slices.IndexFunc(p.Cells, func(c plan.Cell) bool { return c.Name == cell })
	if i < 0 {
		return p, nil, usage("run %s is of the cell %q, which the spec does not have; %s", run.Manifest.RunID, cell, cellNames(p.Cells))
	}
	out, limits, said := &record.Canary{RunID: run.Manifest.RunID}, map[string]float64{}, []string{}
	for _, l := range rep.Ladders {
		if v := l.Limit.Value; v != nil {
			limits[l.Name] = *v
			out.Limits = append(out.Limits, record.CanaryLimit{Ladder: l.Name, Value: *v})
			said = append(said, fmt.Sprintf("%s %g", l.Name, *v))
		}
	}
	narrow, err := spec.Canary(p, p.Cells[i], limits)
	if err != nil {
		return p, nil, usage("no canary at the limits of run %s: %s", run.Manifest.RunID, err)
	}
	a.say("canary: each ladder at the limit of run %s alone: %s", run.Manifest.RunID, strings.Join(said, ", "))
	return narrow, out, nil
}

// canaryLimits are what the checks of a canary are held at: it finds no limits of its own.
func canaryLimits(c record.Canary) []runner.Limit {
	var out []runner.Limit
	for _, l := range c.Limits {
		out = append(out, runner.Limit{Ladder: l.Ladder, Value: l.Value})
	}
	return out
}
