package spec

import (
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"rung/spec/plan"
)

// experiment is a file, decoded block by block, before its expansion to a plan.
type experiment struct {
	name        string
	description string
	seed        int64
	target      target
	simulator   *plan.Simulator
	gpu         plan.GPU
	gpuHashed   plan.GPU // as the file has it, whatever --simulate makes of it
	analysis    plan.Analysis
	metrics     *plan.Metrics
	slo         *plan.SLO
	rollback    *plan.Rollback
	configs     []string
	cells       []cell
}

// maxSeed is the largest whole number that every reader of JSON keeps exactly.
const maxSeed = 1 << 53

// fileSchema is the file as a whole, which is a body without a head.
func fileSchema() schema {
	return schema{
		kind: "An experiment file",
		blocks: []string{"experiment", "variable", "locals", "matrix", "target", "simulator", "server", "gpu", "metrics", "prompt", "baseline",
			"ladder", "retest", "confirm", "slo", "analysis", "config", "rollback"},
	}
}

// experiment decodes everything but variables and locals.
func (l *loader) experiment() experiment {
	top := l.top()
	e := experiment{seed: 1}
	l.head(top["experiment"], &e)
	e.simulator = l.simulator(top["simulator"])
	e.target = l.target(top["target"], e.simulator != nil || l.opts.Simulate)
	e.gpu, e.gpuHashed = l.gpu(top["gpu"], l.simulated(e))
	e.analysis = l.analysis(top["analysis"])
	e.metrics = l.metrics(top["metrics"], e.target.api)
	e.slo = l.slo(top["slo"], e.target.api)
	e.rollback = l.rollback(top["rollback"])
	e.configs = l.configs()
	e.cells = l.cells(top, e)
	return e
}

// simulated says that a run of the file would use the simulated server.
func (l *loader) simulated(e experiment) bool {
	return l.opts.Simulate || e.simulator != nil && !e.target.hasURL
}

// top checks what stands at the top of the file, and gives the blocks that may
// stand there once.
func (l *loader) top() map[string]*hclsyntax.Block {
	s := fileSchema()
	for _, a := range l.body.Attributes {
		l.strayAttr(a, s)
	}
	once := map[string]*hclsyntax.Block{}
	for _, b := range l.body.Blocks {
		switch b.Type {
		case "experiment", "matrix", "target", "simulator", "server", "gpu", "metrics", "baseline", "confirm", "slo", "analysis", "rollback":
			if first := once[b.Type]; first != nil {
				l.duplicate(b, first)
				continue
			}
			once[b.Type] = b
		case "variable", "locals", "prompt", "ladder", "retest", "config":
		default:
			l.strayBlock(b, s)
		}
	}
	for kind, example := range map[string]string{
		"experiment": `experiment "name" { }`, "target": `target { api = "openai-embeddings" ... }`,
	} {
		if once[kind] == nil {
			l.fileError(sumMissingBlock, "The file has no block %s: %s", kind, example)
		}
	}
	return once
}

// blocksOf gives the blocks of one kind, in order.
func (l *loader) blocksOf(kind string) []*hclsyntax.Block {
	var out []*hclsyntax.Block
	for _, b := range l.body.Blocks {
		if b.Type == kind {
			out = append(out, b)
		}
	}
	return out
}

func experimentSchema() schema {
	return schema{kind: "experiment", labels: 1, attrs: []string{"description", "seed"}}
}

// head decodes the block experiment.
func (l *loader) head(b *hclsyntax.Block, e *experiment) {
	if b == nil {
		return
	}
	f := l.open(b, experimentSchema())
	e.name = f.label()
	e.description = f.text("description", "")
	e.seed = f.integer("seed", 1, -maxSeed, maxSeed)
	if len(b.Labels) == 1 {
		l.checkExperimentName(b.LabelRanges[0], e.name)
	}
}

// checkExperimentName: the name is that of a folder under results/, which is also
// the folder of a Go package with packages in it.
func (l *loader) checkExperimentName(rng hcl.Range, name string) {
	if !regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$`).MatchString(name) {
		l.errorAt(rng, sumBadLabel, "The runs are written to a folder of this name: it may have up to 64 letters, digits and the signs - _ . "+
			"and no dot in front.")
		return
	}
	for _, taken := range []string{"render", "testdata", "internal", "vendor"} {
		if strings.EqualFold(name, taken) {
			l.errorAt(rng, sumReservedName, "results/%s is not free for runs. Choose another name.", taken)
		}
	}
}

// usableName checks the label of what is referred to by name. Names go into the
// recorded columns and the names of files.
func (l *loader) usableName(b *hclsyntax.Block) bool {
	if len(b.Labels) != 1 {
		return false // reported by open
	}
	if regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`).MatchString(b.Labels[0]) {
		return true
	}
	l.errorAt(b.LabelRanges[0], sumBadLabel, "The name of a %s begins with a letter and has up to 64 letters, digits and the signs - and _.", b.Type)
	return false
}
