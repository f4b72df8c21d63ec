package spec

import "rung/spec/plan"

// expand makes the plan. It is called only where nothing was wrong.
func (e experiment) expand() plan.Plan {
	p := plan.Plan{
		Format:      plan.Format,
		Experiment:  e.name,
		Description: e.description,
		Seed:        e.seed,
		Target:      e.target.Target,
		Simulator:   e.simulator,
		GPU:         e.gpuHashed,
		Metrics:     e.metrics,
		Analysis:    e.analysis,
		SLO:         e.slo,
		Rollback:    e.rollback,
		Configs:     e.configs,
	}
	b := e.baseline.Baseline
	cell := plan.Cell{Baseline: &b, Body: e.target.body, Server: e.server, Retests: e.retests, Confirm: e.confirm}
	for _, d := range e.ladders {
		cell.Ladders = append(cell.Ladders, d.Ladder)
	}
	p.Cells = []plan.Cell{cell}
	p.SpecHash = specHash(p, e.target.secretBody)
	p.WorkloadHash = workloadHashes(p)
	p.GPU = e.gpu
	return p
}
