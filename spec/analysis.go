package spec

import (
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"rung/spec/plan"
)

func kneeSchema() schema {
	return schema{kind: "knee", attrs: []string{"rule", "elasticity", "tie", "p95_rise", "factor", "flat", "gain", "p95_over_baseline"}}
}

func analysisSchema() schema {
	return schema{kind: "analysis", attrs: []string{"use"}, blocks: []string{"knee", "limit", "headroom", "baseline_check", "config"}}
}

func limitSchema() schema { return schema{kind: "limit", attrs: []string{"p95_ratio"}} }

func headroomSchema() schema {
	return schema{kind: "headroom", attrs: []string{"reserve_rungs", "safety"}}
}

func baselineCheckSchema() schema {
	return schema{kind: "baseline_check", attrs: []string{"interference"}}
}

func configSchema() schema {
	return schema{kind: "config", attrs: []string{"queue_factor", "timeout_factor"}}
}

// analysis decodes the report's rules, which are declared before the run.
func (l *loader) analysis(b *hclsyntax.Block) plan.Analysis {
	f := l.absent(analysisSchema())
	if b != nil {
		f = l.open(b, analysisSchema())
	}
	a := plan.Analysis{Use: f.choice("use", "interactive", []string{"interactive", "offline"})}
	k := f.sub(kneeSchema())
	a.Knee = plan.Knee{
		Rule:            k.choice("rule", "power", []string{"power", "half_increment", "gain_and_p95"}),
		Elasticity:      k.real("elasticity", 0.5, 0.01, 1),
		Tie:             k.real("tie", 0.05, 0, 0.9),
		P95Rise:         k.real("p95_rise", 1.10, 1, 100),
		Factor:          k.real("factor", 0.5, 0, 10),
		Flat:            k.real("flat", 0.05, 0, 1),
		Gain:            k.real("gain", 0.5, 0, 10),
		P95OverBaseline: k.real("p95_over_baseline", 1.5, 1, 1e6),
	}
	limit := f.sub(limitSchema())
	a.Limit.P95Ratio = limit.real("p95_ratio", 3.0, 1, 1e6)
	room := f.sub(headroomSchema())
	a.Headroom = plan.Headroom{ReserveRungs: room.count("reserve_rungs", 1, 0, maxRungs), Safety: room.real("safety", 0.08, 0, 0.99)}
	check := f.sub(baselineCheckSchema())
	a.BaselineCheck.Interference = check.real("interference", 1.5, 1, 1e6)
	config := f.sub(configSchema())
	a.Config = plan.Config{QueueFactor: config.real("queue_factor", 3, 0.01, 1e6), TimeoutFactor: config.real("timeout_factor", 1.5, 0.01, 1e6)}
	return a
}
