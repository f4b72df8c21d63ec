package parquet

import (
	"fmt"
	"strings"

	"rung/sinks/record"
)

// group is what the rows of one part have in common. The zero group is that of
// rows outside any place.
type group struct {
	ladder     string
	pass, rung int
	phase      record.Phase // outside ladders only
}

func groupOf(p *record.Place) group {
	switch {
	case p.Ladder != "":
		return group{ladder: p.Ladder, pass: p.Pass, rung: p.Rung}
	case p.Phase == record.Probe || p.Phase == "":
		return group{phase: p.Phase}
	default:
		return group{phase: record.Baseline} // its idle time and its warm-ups too
	}
}

// groupOfEvent leaves an event of a whole pass or ladder, which names no rung, in
// the part that is open.
func groupOfEvent(e *record.Event) group {
	if s := eventScope(e); s == inLadder || s == inPass {
		return group{}
	}
	return groupOf(&e.Place)
}

// takes says whether a row of another group may lie in this group's part: one
// outside any place stays with the part that is open, since a part for each
// pause between two rungs would only be clutter.
func (g group) takes(other group) bool { return other == g || other == group{} }

// label is the group's part of a file name.
func (g group) label() string {
	switch {
	case g.ladder != "":
		return fmt.Sprintf("%s-p%d-r%d", fileName(g.ladder), g.pass, g.rung)
	case g.phase != "":
		return fileName(string(g.phase))
	default:
		return "run"
	}
}

// fileName keeps what is harmless in a file's name on every system.
func fileName(s string) string {
	const most = 40
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			b.WriteRune(r)
		case r == '.' && b.Len() > 0:
			b.WriteRune(r)
		default:
			b.WriteByte('-')
		}
		if b.Len() >= most {
			break
		}
	}
	return b.String()
}
