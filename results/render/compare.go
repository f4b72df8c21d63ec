package render

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"rung/results"
	"rung/spec/plan"
)

// Compare writes how one run differs from another for a terminal.
func Compare(w io.Writer, c results.Comparison, o Options) error {
	p := &printer{o: o, width: o.width()}
	p.block(block{strong: safe(c.Verdict)})
	p.block(block{pairs: [][2]string{{"A", safe(comparedWords(c.A))}, {"B", safe(comparedWords(c.B))}}})
	if len(c.Warnings) > 0 {
		p.block(block{heading: "Read this first", level: 2})
		p.block(block{list: safeAll(c.Warnings)})
	}
	if settings := slices.Concat(c.Settings, c.InForce); len(settings) > 0 {
		p.block(block{heading: "Settings of the server", level: 2})
		p.block(block{list: safeAll(settings)})
	}
	for i := range c.Ladders {
		l := &c.Ladders[i]
		p.block(block{heading: fmt.Sprintf("Ladder %q", safe(l.Name)), level: 2})
		p.block(block{pairs: [][2]string{
			{"limit", pairWords(l.Limit)}, {"knee", pairWords(l.Knee)}, {"edge", pairWords(l.Edge) + inBrackets(edgeWords(l.EdgeMoved))},
		}})
		for _, t := range []table{effectTable(l, c, true), effectTable(l, c, false)} {
			p.block(block{table: &t})
		}
		if len(l.Unpaired) > 0 {
			p.block(block{text: "not in both runs: " + values(l.Unpaired)})
		}
	}
	return p.flush(w)
}

// CompareJSON writes the same for a program.
func CompareJSON(w io.Writer, c results.Comparison) error { return printJSON(w, c) }

func comparedWords(c results.Compared) string {
	s := "run " + c.RunID + ", " + c.Model
	if c.Server != "" {
		s += " on " + c.Server
	}
	if c.Cell != "" {
		s += ", cell " + c.Cell
	}
	return s
}

func pairWords(p results.Pair) string {
	return valueOrNone(p.A) + " and " + valueOrNone(p.B)
}

func edgeWords(moved string) string {
	if moved == "up" || moved == "down" {
		return "it moved " + moved
	}
	return ""
}

// effectTable is how a figure of each rung differs.
func effectTable(l *results.LadderPair, c results.Comparison, throughput bool) table {
	t := table{caption: "Throughput, " + l.Unit, head: []column{
		{name: axisHead(l.Axis)}, {name: "A"}, {name: "B"}, {name: "change"},
		{name: "delta", note: "Cliff's: the share of the pairs in which B's is the greater, less that in which A's is"},
		{name: "n", wide: true, note: "passes or rounds of A and B that were compared"},
		{name: "p", note: fmt.Sprintf("by Mann and Whitney, held against %s by Holm", plural(c.Tests, "test", "tests"))}, {name: "", left: true},
	}}
	var order []string
	why := map[string][]string{}
	show := rate
	if !throughput {
		t.caption = "Latency, s"
		show = func(x *float64) string {
			if x == nil {
				return unknown
			}
			return seconds(*x)
		}
	}
	for _, r := range l.Rungs {
		e := r.Throughput
		if !throughput {
			e = r.Latency
		}
		row := []string{value(r.Value), show(e.A), show(e.B), unknown, unknown, unknown, unknown, ""}
		if e.Over != "" {
			row[5] = fmt.Sprintf("%d, %d %s", e.NA, e.NB, safe(e.Over))
		}
		if e.Change != nil {
			row[3] = fmt.Sprintf("%+.1f %%", 100**e.Change)
		}
		if e.Delta != nil {
			row[4] = fmt.Sprintf("%+.2f", *e.Delta)
		}
		if e.PHolm != nil {
			row[6] = pValue(*e.PHolm)
		}
		if e.Differs {
			row[7] = "differs"
		}
		if !throughput {
			row[7] = joinWords(r.LatencyOf, row[7])
		}
		if e.Reason != "" {
			if why[e.Reason] == nil {
				order = append(order, e.Reason)
			}
			why[e.Reason] = append(why[e.Reason], value(r.Value))
		}
		t.rows = append(t.rows, row)
	}
	for _, reason := range order {
		t.notes = append(t.notes, strings.Join(why[reason], ", ")+": "+safe(reason))
	}
	return t
}

func joinWords(a, b string) string {
	if b == "" {
		return safe(a)
	}
	return safe(a) + ", " + b
}

// pValue is a p for the eye.
func pValue(p float64) string {
	if p < 0.001 {
		return "< 0.001"
	}
	return fmt.Sprintf("%.3f", math.Min(1, p))
}

// SideBySide writes what several runs found, a row a ladder, for a terminal.
func SideBySide(w io.Writer, reports []*results.Report, o Options) error {
	t := sideTable(reports)
	p := &printer{o: o, width: o.width()}
	p.block(block{table: &t})
	return p.flush(w)
}

func sideTable(reports []*results.Report) table {
	t := table{caption: "Side by side", head: []column{
		{name: "run", left: true}, {name: "ladder", left: true}, {name: "limit"}, {name: "knee"}, {name: "edge"},
		{name: "throughput", note: "at the limit"}, {name: "unit", left: true}, {name: "P95, s", note: "likewise"}, {name: "bottleneck", left: true, wide: true},
		{name: "boundary", wide: true}, {name: "headroom", wide: true}, {name: "server", left: true, wide: true},
	}}
	few := false
	for _, rep := range reports {
		for i := range rep.Ladders {
			row, mark := sideRow(rep, &rep.Ladders[i])
			t.rows, few = append(t.rows, row), few || mark
		}
	}
	if few {
		t.notes = append(t.notes, fmt.Sprintf("%s: on fewer than %d requests", fewRequests, results.P95Needs))
	}
	return t
}

// runName is how a run is called beside others.
func runName(rep *results.Report) string {
	if rep.Simulated {
		return safe(rep.Run.RunID) + " (simulated)"
	}
	return safe(rep.Run.RunID)
}

// sideRow is a ladder's row, and whether its P95 rests on few requests.
func sideRow(rep *results.Report, l *results.Ladder) (row []string, few bool) {
	limit := l.Limit.Value
	if l.Axis == plan.AxisRate && l.Capacity != nil {
		limit = l.Capacity.Value
	}
	edge, throughput, p95, bottleneck := "none", unknown, unknown, unknown
	if l.Edge != nil {
		edge = value(l.Edge.Value)
	}
	for _, r := range l.Rungs {
		if limit != nil && r.Value == *limit && r.Latency != nil {
			throughput, p95 = rate(r.Throughput), seconds(r.Latency.P95S)
			if few = !r.Latency.P95Supported; few {
				p95 += fewRequests
			}
		}
	}
	if b := l.Bottleneck; b != nil && b.Verdict != results.Undetermined {
		bottleneck = b.Verdict
	}
	return []string{
		runName(rep), safe(l.Name), valueOrNone(limit), valueOrNone(l.Knee.Knee), edge,
		throughput, shortUnit(l.Unit), p95, bottleneck, valueOrNone(l.Boundary), headroomFigure(rep).value, safe(rep.Run.Model + server(rep.Run)),
	}, few
}
