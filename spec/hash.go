package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

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

// HashFormat is the version of the hashes. It is raised when the same experiment would
// hash otherwise.
const HashFormat = 1

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
	return canonical{Kind: "spec", Format: HashFormat, Plan: bare(p), SensitiveBody: sensitiveBody}.sum()
}

// workloadHashes gives each cell its own hash, and returns that of the whole: the
// one that all cells have, or else a hash over theirs.
func workloadHashes(p plan.Plan) string {
	same := true
	all := make([]string, len(p.Cells))
	for i := range p.Cells {
		all[i] = workloadHash(p, p.Cells[i])
		p.Cells[i].WorkloadHash = all[i]
		same = same && all[i] == all[0]
	}
	if same {
		return all[0]
	}
	sum := sha256.Sum256([]byte(strings.Join(all, "\n")))
	return hex.EncodeToString(sum[:])
}

// workloadHash is over what one cell asks of a server and how the answers are
// judged. Beside what specHash leaves out it leaves out the target, the server, the
// simulator, where telemetry comes from and the experiment's name: two servers
// measured by the same work have the same one.
func workloadHash(p plan.Plan, c plan.Cell) string {
	c.Index, c.Name, c.Values, c.Body, c.Server = 0, "", nil, nil, nil
	p.Cells = []plan.Cell{c}
	p = bare(p)
	p.Experiment, p.Target, p.Simulator, p.GPU, p.Metrics = "", plan.Target{}, nil, plan.GPU{}, nil
	p.Rollback, p.Configs = nil, nil
	return canonical{Kind: "workload", Format: HashFormat, Plan: p}.sum()
}

// bare is a copy without what no hash is over.
func bare(p plan.Plan) plan.Plan {
	p.SpecHash, p.WorkloadHash, p.Description = "", "", ""
	if !p.GPU.Declared {
		p.GPU.Source = ""
	}
	cells := make([]plan.Cell, len(p.Cells))
	for i, c := range p.Cells {
		c.WorkloadHash = ""
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
		c.Retests = slices.Clone(c.Retests)
		for j := range c.Retests {
			c.Retests[j].Prompt.TextFile = ""
		}
		if c.Confirm != nil {
			check := *c.Confirm
			check.Prompt.TextFile = ""
			c.Confirm = &check
		}
		cells[i] = c
	}
	p.Cells = cells
	return p
}
