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
	for i, c := range e.cells {
		p.Cells = append(p.Cells, c.plan(i))
	}
	p.SpecHash = specHash(p, e.cells[0].target.secretBody)
	p.WorkloadHash = workloadHashes(p)
	p.GPU = e.gpu
	return p
}
