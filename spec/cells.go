package spec

import (
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"rung/spec/plan"
)

// cell is what the matrix may change: the blocks that are decoded for each cell
// anew.
type cell struct {
	name     string
	values   []plan.Setting
	target   target // that of all cells, with this one's body
	server   *plan.Server
	prompts  []prompt
	ladders  []ladder
	baseline baseline
	retests  []plan.Retest
	confirm  *plan.Check
}

// maxCellBlocks bounds the blocks that are decoded for all cells together.
const maxCellBlocks = 20_000

// cell decodes one cell. A block that may read the matrix belongs here, and each
// that refers to a prompt or a ladder.
func (l *loader) cell(top map[string]*hclsyntax.Block, e experiment) cell {
	c := cell{target: e.target}
	l.targetBody(c.target.f, &c.target)
	c.server = l.server(top["server"], &c.target)
	c.prompts = l.prompts(e.target.api)
	c.ladders = l.ladders(c.prompts, e.target.api)
	c.baseline = l.baseline(top["baseline"], c)
	c.retests = l.retests(c)
	c.confirm = l.confirm(top["confirm"], c)
	l.advise(e, c, top)
	return c
}

// plan is the cell as a run takes it.
func (c cell) plan(index int) plan.Cell {
	b := c.baseline.Baseline
	out := plan.Cell{Index: index, Name: c.name, Values: c.values, Body: c.target.body, Server: c.server, Baseline: &b,
		Retests: c.retests, Confirm: c.confirm}
	for _, d := range c.ladders {
		out.Ladders = append(out.Ladders, d.Ladder)
	}
	return out
}

// cells decodes all cells, one where there is no matrix.
func (l *loader) cells(top map[string]*hclsyntax.Block, e experiment) []cell {
	choices := l.matrix(top["matrix"])
	if n := len(l.body.Blocks); n*len(choices) > maxCellBlocks {
		l.errorAt(top["matrix"].DefRange(), sumTooMany, "The matrix has %d cells and the file %d blocks; their product may be %d.", len(choices), n, maxCellBlocks)
		choices = choices[:1]
	}
	var out []cell
	var said [][]finding
	before, requests := l.findings, 0.0
	l.inCell = true
	for _, m := range choices {
		l.findings, l.mat.values = nil, m.values
		c := l.cell(top, e)
		c.name, c.values = m.name, m.settings
		requests = l.checkWork(c, requests)
		out, said = append(out, c), append(said, l.findings)
		if requests > maxRequests || len(l.findings) > maxFindings {
			break // what more there is to say would not be shown, and might fill the memory
		}
	}
	l.inCell = false
	l.findings = slices.Concat(before, agreed(said, out))
	return out
}

// spot is where something is said, whatever its detail.
type spot struct {
	summary string
	at      int
}

func (f finding) spot() spot { return spot{f.summary, start(f)} }

// agreed makes one list of what was said of each cell. What all cells have in common
// is said once; of what differs from cell to cell, only the first cell's is said,
// and its name.
func agreed(said [][]finding, cells []cell) []finding {
	details := make([]map[spot][]string, len(said))
	for i, list := range said {
		details[i] = map[spot][]string{}
		for _, f := range list {
			details[i][f.spot()] = append(details[i][f.spot()], f.detail)
		}
	}
	var out []finding
	owner := map[spot]int{}
	for i, list := range said {
		for _, f := range list {
			s := f.spot()
			if first, ok := owner[s]; ok && first != i {
				continue
			}
			owner[s] = i
			if slices.ContainsFunc(details, func(d map[spot][]string) bool { return !slices.Equal(d[s], details[i][s]) }) {
				f.detail += " (In the cell " + cells[i].name + ".)"
			}
			out = append(out, f)
		}
	}
	return out
}
