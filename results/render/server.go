package render

import (
	"fmt"
	"strconv"
	"strings"

	"rung/results"
)

// serverTable is what server and card showed of themselves at each rung; without rows
// where neither was looked at.
func serverTable(rep *results.Report, l *results.Ladder) table {
	t := table{caption: "Server and card while the rungs were measured", head: []column{
		{name: axisHead(l.Axis)},
		{name: "readings", wide: true, note: "of the server's own metrics, in the steady windows"},
		{name: "running", note: "requests, on average"},
		{name: "waiting", note: "likewise; in brackets the most"},
		{name: "waiting, share", wide: true, note: "of the readings in which some request waited"},
		{name: "pool", note: "the most in use of the server's memory for tokens"},
		{name: "preemptions", note: "by how much their counter grew"},
		{name: "util", note: "of the card: some kernel ran in so much of the time"},
		{name: "power", note: "of the card's limit, on average"},
		{name: "SM clock, MHz", wide: true}, {name: "bottleneck", left: true},
	}}
	shown := make([]bool, len(t.head))
	for _, r := range l.Rungs {
		row := append(append([]string{value(r.Value)}, append(gauges(r.Gauges), card(r.Card)...)...), boundBy(r.Diagnosis))
		if !rep.Memory.Preallocated { // the gauge of a model without a pool says nothing
			row[5] = unknown
		}
		for i, c := range row {
			shown[i] = shown[i] || i > 0 && c != unknown
		}
		t.rows = append(t.rows, row)
	}
	for i := len(t.head) - 1; i > 0; i-- {
		if !shown[i] {
			t.drop(t.head[i].name)
		}
	}
	if n := len(t.head); n == 1 || n == 2 && t.head[1].name == "bottleneck" {
		return table{}
	}
	t.notes = append(t.notes, evidence(l)...)
	if why := rep.Metrics.Reason; why != "" {
		t.notes = append(t.notes, safe(why))
	}
	return t
}

// boundBy is a rung's diagnosis in a word.
func boundBy(d *results.Diagnosis) string {
	if d == nil || d.Verdict == results.Undetermined {
		return unknown
	}
	return d.Verdict
}

// evidence says what the rungs' verdicts rest on, and why there is none.
func evidence(l *results.Ladder) []string {
	var out, order []string
	at := map[string][]string{}
	for _, r := range l.Rungs {
		switch d := r.Diagnosis; {
		case d == nil:
		case d.Verdict != results.Undetermined:
			out = append(out, safe(fmt.Sprintf("%s: %s, %s", value(r.Value), d.Verdict, d.Evidence())))
		default:
			if at[d.Reason] == nil {
				order = append(order, d.Reason)
			}
			at[d.Reason] = append(at[d.Reason], value(r.Value))
		}
	}
	for _, why := range order {
		out = append(out, safe(fmt.Sprintf("%s: undetermined, %s", strings.Join(at[why], ", "), why)))
	}
	return out
}

func gauges(g *results.Gauges) []string {
	if g == nil {
		return []string{unknown, unknown, unknown, unknown, unknown, unknown}
	}
	waiting := rate(g.WaitingMean)
	if g.WaitingMost != nil && *g.WaitingMost > 0 {
		waiting += fmt.Sprintf(" (%s)", value(*g.WaitingMost))
	}
	return []string{strconv.Itoa(g.Readings), rate(g.RunningMean), waiting, shareOr(g.WaitingShare), shareOr(g.KVUsageMost), numberOr(g.Preemptions)}
}

func card(c *results.Card) []string {
	if c == nil {
		return []string{unknown, unknown, unknown}
	}
	util, clock := unknown, unknown
	if c.UtilMean != nil {
		util = fmt.Sprintf("%.0f %%", *c.UtilMean)
	}
	if c.ClockMHz != nil {
		clock = fmt.Sprintf("%.0f", *c.ClockMHz)
	}
	return []string{util, shareOr(c.PowerOf), clock}
}

func shareOr(x *float64) string {
	if x == nil {
		return unknown
	}
	return pct(*x)
}

func numberOr(x *float64) string {
	if x == nil {
		return unknown
	}
	return fmt.Sprintf("%.0f", *x)
}

// pct is a share as a whole per cent; what is not all is never 100, nor a little nothing.
func pct(x float64) string {
	n := 100 * x
	switch {
	case n > 99 && n < 100:
		n = 99
	case n > 0 && n < 1:
		return fmt.Sprintf("%.2g %%", n)
	}
	return fmt.Sprintf("%.0f %%", n)
}

// poolFree is what is left of a pool, rounded down.
func poolFree(p *results.Pool) string { return fmt.Sprintf("%d %%", int(100*p.Free)) }

// poolPairs are the headroom of memory that a server took up front.
func poolPairs(h results.Headroom) [][2]string {
	p := h.Pool
	out := [][2]string{
		{"headroom", fmt.Sprintf("%s of the server's pool for tokens is free at %s, where at most %s were in use (%s)", poolFree(p), safe(p.At), pct(p.UsageMost), plural(p.Readings, "reading", "readings"))},
		{"why of the pool", safe(strings.TrimSuffix(h.Reason, "; by its own gauge"))},
	}
	if p.Tokens != nil {
		out = append(out, [2]string{"the pool holds", fmt.Sprintf("%.0f tokens, as the server says", *p.Tokens)})
	}
	if p.Capacity != nil {
		out = append(out, [2]string{"capacity", fmt.Sprintf("%.0f requests at once, %s", *p.Capacity, safe(p.CapacityBy))})
	}
	return out
}
