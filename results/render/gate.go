package render

import (
	"fmt"
	"io"

	"rung/results"
)

// Gate writes what became of a later run for a terminal.
func Gate(w io.Writer, g results.Gate, o Options) error {
	p := &printer{o: o, width: o.width()}
	p.block(block{strong: safe(fmt.Sprintf("%s: run %s against %s", g.Verdict, g.Run, g.Reference))})
	rules := [][2]string{}
	for _, r := range g.Rules {
		rules = append(rules, [2]string{safe(r.Rule), safe(r.Verdict + ", " + r.Says)})
	}
	p.block(block{pairs: rules})
	if len(g.Scope) > 0 {
		p.block(block{text: "looked at:"})
		p.block(block{list: safeAll(g.Scope)})
	}
	return p.flush(w)
}

// GateJSON writes the same for a program.
func GateJSON(w io.Writer, g results.Gate) error { return printJSON(w, g) }
