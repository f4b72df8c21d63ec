package render

import (
	"fmt"
	"strings"

	"rung/results"
)

// figure is one key figure: a name, a value in a word, and what to know of it.
type figure struct{ name, value, note string }

func ladderFigures(l *results.Ladder) []figure {
	limit := figure{"limit", valueOrNone(l.Limit.Value), safe(l.Limit.Reason)}
	if l.Limit.Value != nil {
		limit.note = safe(l.Setting + ", " + l.Limit.Reason + "; " + checked(l.Limit))
	}
	knee := figure{"knee", valueOrNone(l.Knee.Knee), safe(l.Knee.Reason)}
	if l.Knee.Best != nil {
		knee.note = safe(fmt.Sprintf("best rung %s by %s; %s", value(*l.Knee.Best), l.Knee.Rule, l.Knee.Sure))
		if l.Knee.Share != nil {
			knee.note = safe(fmt.Sprintf("best rung by %s: %s", l.Knee.Rule, l.Knee.Sure))
		}
	}
	if l.Knee.Answer == results.NotReached {
		knee.value, knee.note = "not reached", strings.TrimPrefix(knee.note, "not reached, ")
	}
	boundary := figure{"boundary", valueOrNone(l.Boundary), safe(l.BoundaryReason)}
	edge := figure{"edge", "none", safe(l.BoundaryReason)}
	if l.Edge != nil {
		edge.value = value(l.Edge.Value)
		why := l.Edge.Reason
		if l.Edge.OnFew {
			why += ", on too few requests"
		}
		edge.note = safe(strings.Join(append([]string{why, l.Edge.Confirmed}, l.Edge.Settings...), "; "))
	} else {
		boundary.note = "there is no edge"
	}
	switch bound := boundFigure(l); {
	case l.Capacity != nil:
		return append(capacityFigures(l.Capacity), edge, bound)
	case !l.Axis.HasKnee():
		return []figure{limit, slopeFigure(l), boundary, edge}
	default:
		return []figure{limit, knee, boundary, edge, bound}
	}
}

// boundFigure is what bound a ladder.
func boundFigure(l *results.Ladder) figure {
	b := l.Bottleneck
	switch {
	case b == nil:
		return figure{"bottleneck", unknown, ""}
	case b.Verdict == results.Undetermined:
		return figure{"bottleneck", b.Verdict, safe(fmt.Sprintf("at %s: %s", value(b.Value), b.Reason))}
	default:
		return figure{"bottleneck", b.Verdict, safe(fmt.Sprintf("at %s: %s", value(b.Value), b.Evidence))}
	}
}

// checked says in a word or two whether a limit was held against more.
func checked(l results.Limit) string {
	if l.Check == results.NotChecked {
		return l.Check
	}
	return l.Checked
}

// capacityFigures are those of a rate ladder: the rate that is borne, and the latency
// below it.
func capacityFigures(c *results.Capacity) []figure {
	f := figure{"capacity", "none", safe(c.Reason)}
	if c.Value != nil {
		f.value, f.note = value(*c.Value), safe("requests/s; "+c.Reason)
		if c.AtLeast {
			f.value = "at least " + f.value
		}
	}
	out := []figure{f}
	for _, b := range c.Below {
		p := figure{fmt.Sprintf("P95 at %.0f %%", 100*b.Share), "unknown", safe(b.Reason)}
		if b.P95S != nil {
			p.value, p.note = span(*b.P95S), fmt.Sprintf("at %s requests/s, between the two rates around it", digits(b.Rate))
			if !b.Supported {
				p.value += fewRequests
				p.note += "; " + fewRequests + " on too few requests"
			}
		}
		out = append(out, p)
	}
	return out
}

// slopeFigure is how the latency of a ladder of lengths grows.
func slopeFigure(l *results.Ladder) figure {
	s := l.Slope
	if s == nil {
		return figure{"slope", "unknown", "fewer than two lengths have a latency"}
	}
	note := fmt.Sprintf("of the median latency per 1,000 %s, from %.4g to %.4g", s.Of, s.From, s.To)
	if s.Rungs > 2 {
		note += fmt.Sprintf("; %s to %s between neighbouring rungs", span(s.LeastS), span(s.MostS))
	}
	return figure{"slope", span(s.SPer1000), note}
}

func headroomFigure(rep *results.Report) figure {
	h := rep.Memory.Headroom
	if p := h.Pool; p != nil {
		return figure{"headroom", poolFree(p) + " of the pool", fmt.Sprintf("the server's own memory for tokens, %s in use at most at %s", pct(p.UsageMost), safe(p.At))}
	}
	if h.AvailableBytes == nil {
		return figure{"headroom", "unknown", safe(strings.TrimPrefix(h.Reason, "headroom unknown: "))}
	}
	note := "free at " + safe(h.PeakAt) + ", after reserve and safety"
	if len(h.NotMeasured) > 0 {
		note += "; not measured: " + safe(strings.Join(h.NotMeasured, "; "))
	}
	if h.NoLadder != "" {
		note += "; " + h.NoLadder
	}
	return figure{"headroom", bytes(*h.AvailableBytes), note}
}
