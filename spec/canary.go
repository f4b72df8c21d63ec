package spec

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"rung/spec/plan"
)

// ErrNoLimit says that no ladder of a cell has a limit to be tried.
var ErrNoLimit = errors.New("there is no limit at any of the ladders")

// Canary is the plan of one cell alone, in which each ladder has the one rung at its
// limit and nothing else is changed: the prompts, the passes, the rounds and the rules are
// the ladder's own. A ladder without a limit is left out, with its retests. limits are by
// the ladders' names.
func Canary(p plan.Plan, c plan.Cell, limits map[string]float64) (plan.Plan, error) {
	var ladders []plan.Ladder
	for _, l := range c.Ladders {
		v, ok := limits[l.Name]
		if !ok {
			continue
		}
		i := slices.IndexFunc(l.Rungs, func(r plan.Rung) bool { return r.Value == v })
		if i < 0 {
			return plan.Plan{}, fmt.Errorf("ladder %q has no rung at %g, its limit: it has %s", l.Name, v, rungsOf(l))
		}
		at := l.Rungs[i]
		at.Index = 0
		l.Rungs, l.Passes = []plan.Rung{at}, slices.Clone(l.Passes)
		for j := range l.Passes {
			l.Passes[j].Order = []int{0}
		}
		ladders = append(ladders, l)
	}
	if len(ladders) == 0 {
		return plan.Plan{}, ErrNoLimit
	}
	c.Ladders = ladders
	c.Retests = slices.DeleteFunc(slices.Clone(c.Retests), func(t plan.Retest) bool { _, ok := limits[t.Ladder]; return !ok })
	p.Cells = []plan.Cell{c}
	p.WorkloadHash = workloadHashes(p)
	return p, nil
}

func rungsOf(l plan.Ladder) string {
	values := make([]string, len(l.Rungs))
	for i, r := range l.Rungs {
		values[i] = fmt.Sprintf("%g", r.Value)
	}
	return strings.Join(values, ", ")
}
