package spec

import (
	"crypto/sha256"
	"encoding/hex"

	"rung/spec/plan"
)

// canonical is what a hash is taken over: the JSON of this, whose fields have a
// fixed order and whose maps are in order of their keys. It is made from the plan,
// so that everything which changes what a run does, records or concludes is in it,
// and how the file is written is not: comments, the order of attributes, a
// function for a list.
type canonical struct {
	Kind          string    `json:"kind"`
	Format        int       `json:"format"` // of this form; see plan.Format for the plan's
	Plan          plan.Plan `json:"plan"`
	SensitiveBody []string  `json:"sensitive_body,omitempty"` // names alone
}

// hashFormat is raised when the same experiment would hash otherwise.
const hashFormat = 1

func (c canonical) sum() string {
	sum := sha256.Sum256(mustJSON(c))
	return hex.EncodeToString(sum[:])
}

// specHash is over all of the evaluated experiment, defaults and the name included.
// Left out are the hashes themselves, the description, where a text file lies (its
// bytes are in by their own hash), and the values of what is sensitive (their names
// are in). A source of GPU samples that the file does not declare is blank, so that
// --simulate changes nothing.
func specHash(p plan.Plan, sensitiveBody []string) string {
	return canonical{Kind: "spec", Format: hashFormat, Plan: bare(p), SensitiveBody: sensitiveBody}.sum()
}

// workloadHash is over what is asked of a server and how the answers are judged.
// Beside what specHash leaves out it leaves out the target, the simulator, the GPU
// and the experiment's name: two servers measured by the same work have the same
// one.
func workloadHash(p plan.Plan) string {
	p = bare(p)
	p.Experiment, p.Target, p.Simulator, p.GPU = "", plan.Target{}, nil, plan.GPU{}
	return canonical{Kind: "workload", Format: hashFormat, Plan: p}.sum()
}

// bare is a copy without what no hash is over.
func bare(p plan.Plan) plan.Plan {
	p.SpecHash, p.WorkloadHash, p.Description = "", "", ""
	if !p.GPU.Declared {
		p.GPU.Source = ""
	}
	cells := make([]plan.Cell, len(p.Cells))
	for i, c := range p.Cells {
		if c.Baseline != nil {
			b := *c.Baseline
			b.Prompt.TextFile = ""
			c.Baseline = &b
		}
		ladders := make([]plan.Ladder, len(c.Ladders))
		for j, d := range c.Ladders {
			d.Prompt.TextFile = ""
			ladders[j] = d
		}
		c.Ladders = ladders
		cells[i] = c
	}
	p.Cells = cells
	return p
}
