package render

import (
	"cmp"
	"fmt"
	"strings"

	"rung/results"
	"rung/sinks/record"
)

// block is one piece of a report: exactly one field is set.
type block struct {
	band    string // across the page
	heading string
	level   int    // of the heading, 1 or 2
	strong  string // the verdict
	text    string
	list    []string
	pairs   [][2]string
	table   *table
	code    string
	lang    string // of the code
}

const simulatedBand = "SIMULATED: every figure is of rung's simulated server or card, none of a real one"

// outline is the report in the order in which it is read: words, then figures,
// then what they rest on.
func outline(rep *results.Report, withSpec bool) []block {
	var out []block
	if rep.Simulated {
		out = append(out, block{band: simulatedBand})
	}
	out = append(out, block{heading: safe(rep.Run.Experiment), level: 1})
	out = append(out, block{strong: safe(rep.Verdict)})
	out = append(out, block{text: safe(byline(rep))})
	if len(rep.Notices) > 0 {
		out = append(out, block{heading: "Read this first", level: 2}, block{list: safeAll(rep.Notices)})
	}
	out = append(out, block{heading: "Key figures", level: 2}, block{pairs: keyFigures(rep)})
	for i := range rep.Ladders {
		out = append(out, ladderBlocks(rep, &rep.Ladders[i])...)
	}
	out = append(out, block{heading: "Memory and headroom", level: 2}, block{pairs: memoryPairs(rep)})
	out = append(out, block{heading: "Baseline", level: 2}, block{pairs: baselinePairs(rep)})
	out = append(out, configBlocks(rep)...)
	if v := validity(rep); len(v) > 0 {
		out = append(out, block{heading: "Validity", level: 2}, block{list: safeAll(v)})
	}
	out = append(out, block{heading: "Provenance", level: 2}, block{pairs: provenance(rep)})
	if len(rep.Ladders) > 0 {
		out = append(out, block{heading: "Ask the data (DuckDB)", level: 2}, block{text: "The figures of the latency tables, n and P95, from the run's own files:"})
	}
	for i := range rep.Ladders {
		out = append(out, block{code: safeLines(rep.Ladders[i].Query), lang: "sql"})
	}
	if withSpec && rep.Spec != "" {
		out = append(out, block{heading: "The specification as it was run", level: 2}, block{code: safeLines(rep.Spec), lang: "hcl"})
	}
	return out
}

func safeAll(s []string) []string {
	out := make([]string, len(s))
	for i := range s {
		out[i] = safe(s[i])
	}
	return out
}

// byline says what was measured: run, model, server, card, tokens.
func byline(rep *results.Report) string {
	h := rep.Run
	parts := []string{"run " + h.RunID, h.Model + server(h)}
	if h.Cell != "" {
		parts = append(parts, "cell "+h.Cell)
	}
	parts = append(parts, cards(rep))
	if t := tokens(rep); t != "" {
		parts = append(parts, t)
	}
	if h.Status != record.Done {
		parts = append(parts, "status "+string(h.Status))
	}
	return strings.Join(parts, " · ")
}

func server(h results.Header) string {
	s := strings.TrimSpace(h.Server.Software + " " + h.Server.Version)
	if s == "" {
		return ""
	}
	return " on " + s
}

func cards(rep *results.Report) string {
	if len(rep.Run.GPUs) == 0 {
		return "no GPU sampled"
	}
	var names []string
	n := map[string]int{}
	for _, g := range rep.Run.GPUs {
		if n[g.Name]++; n[g.Name] == 1 {
			names = append(names, g.Name)
		}
	}
	for i, name := range names {
		if n[name] > 1 {
			names[i] = fmt.Sprintf("%d × %s", n[name], name)
		}
	}
	return strings.Join(names, ", ")
}

// tokens are those of each input, over all ladders.
func tokens(rep *results.Report) string {
	low, high := 0, 0
	for _, l := range rep.Ladders {
		for _, r := range l.Rungs {
			if t := r.Shape.InputTokens; low == 0 || t < low {
				low = t
			}
			high = max(high, r.Shape.InputTokens)
		}
	}
	switch {
	case high == 0:
		return ""
	case low == high:
		return fmt.Sprintf("%d tokens an input", high)
	default:
		return fmt.Sprintf("%d to %d tokens an input", low, high)
	}
}

// keyFigures are those that the tiles show.
func keyFigures(rep *results.Report) [][2]string {
	var out [][2]string
	for i := range rep.Ladders {
		l := &rep.Ladders[i]
		for _, f := range ladderFigures(l) {
			out = append(out, [2]string{safe(l.Name) + ": " + f.name, f.value + inBrackets(f.note)})
		}
	}
	h := headroomFigure(rep)
	return append(out, [2]string{h.name, h.value + inBrackets(h.note)})
}

func inBrackets(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// figure is one key figure: a name, a value in a word, and what to know of it.
type figure struct{ name, value, note string }

func ladderFigures(l *results.Ladder) []figure {
	limit := figure{"limit", valueOr(l.Limit.Value, "none"), safe(l.Limit.Reason)}
	if l.Limit.Value != nil {
		limit.note = safe(l.Setting + ", " + l.Limit.Reason + "; " + checked(l.Limit))
	}
	knee := figure{"knee", valueOr(l.Knee.Knee, "none"), safe(l.Knee.Reason)}
	if l.Knee.Best != nil {
		knee.note = safe(fmt.Sprintf("best rung %s by %s; %s", value(*l.Knee.Best), l.Knee.Rule, l.Knee.Sure))
		if l.Knee.Share != nil {
			knee.note = safe(fmt.Sprintf("best rung by %s: %s", l.Knee.Rule, l.Knee.Sure))
		}
	}
	if l.Knee.Answer == results.NotReached {
		knee.value, knee.note = "not reached", strings.TrimPrefix(knee.note, "not reached, ")
	}
	boundary := figure{"boundary", valueOr(l.Boundary, "none"), safe(l.BoundaryReason)}
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

func ladderBlocks(rep *results.Report, l *results.Ladder) []block {
	out := []block{
		{heading: fmt.Sprintf("Ladder %q", safe(l.Name)), level: 2},
		{list: safeAll(l.Findings)},
	}
	if len(l.Rungs) == 0 {
		return out
	}
	for _, t := range tables(rep, l) {
		out = append(out, block{table: &t})
	}
	return out
}

func memoryPairs(rep *results.Report) [][2]string {
	out := memoryFigures(rep)
	if how := rep.Run.GPU.Import; how != nil {
		out = append(out, [2]string{"imported", safe(fmt.Sprintf("from %s, %s", how.File, how.Offset()))})
	}
	return out
}

func memoryFigures(rep *results.Report) [][2]string {
	m := rep.Memory
	if p := m.Headroom.Pool; p != nil {
		return append(cardPairs(rep), poolPairs(m.Headroom)...)
	}
	if m.Reason != "" {
		return [][2]string{{"memory", safe(strings.TrimPrefix(m.Reason, "memory: "))}, {"headroom", "unknown"}}
	}
	out := cardPairs(rep)
	for _, s := range m.Slopes {
		out = append(out, [2]string{"slope along " + string(s.Axis), memorySlope(s)})
	}
	if m.Says != "" {
		out = append(out, [2]string{"batch against length", safe(m.Says)})
	}
	h := m.Headroom
	if h.AvailableBytes == nil {
		return append(out, [2]string{"headroom", safe(strings.TrimPrefix(h.Reason, "headroom "))})
	}
	reserve := bytes(h.ReserveBytes)
	if h.Extrapolated {
		reserve += ", extrapolated"
	}
	out = append(out,
		[2]string{"total", bytesOr(m.TotalBytes, "unknown")},
		[2]string{"- reserved by the driver", bytes(h.ReservedBytes)},
		[2]string{"- safety", bytes(h.SafetyBytes)},
		[2]string{"- peak at the limit", bytes(h.PeakBytes) + " at " + safe(h.PeakAt)},
		[2]string{"- reserve to the rung above", reserve},
		[2]string{"= available", bytes(*h.AvailableBytes)})
	for _, n := range h.NotMeasured {
		out = append(out, [2]string{"not measured", safe(n)})
	}
	return out
}

// cardPairs say what was sampled of the card; nothing where none was.
func cardPairs(rep *results.Report) [][2]string {
	m := rep.Memory
	if m.Reason != "" {
		return nil
	}
	out := [][2]string{{"device", safe(fmt.Sprintf("%d, %s", m.Device, m.DeviceName))}}
	if m.Devices > 1 {
		out[0][1] += fmt.Sprintf(", the fullest of %d", m.Devices)
	}
	out = append(out, [2]string{"sampled", fmt.Sprintf("every %g s from %s, %d late", rep.Run.GPU.IntervalS, safe(rep.Run.GPU.Source), rep.Run.GPU.Late)})
	return append(out, [2]string{"idle", bytesOr(rep.Baseline.IdleBytes, safe(rep.Baseline.IdleReason))})
}

// memorySlope is the memory that a token of the batch takes.
func memorySlope(s results.MemorySlope) string {
	of := fmt.Sprintf(", ladder %q", safe(s.Ladder))
	if s.BytesPerToken == nil {
		return "unknown, " + safe(s.Reason) + of
	}
	out := kib(*s.BytesPerToken) + " a token of the batch"
	if low, high := kib(s.Least), kib(s.Most); low != high {
		out += fmt.Sprintf(" (%s to %s between neighbouring rungs)", low, high)
	}
	out += fmt.Sprintf(", from %.4g to %.4g tokens", s.From, s.To) + of + safe(fmt.Sprintf("; observed on %s with %s", s.Card, s.Text))
	if s.Note != "" {
		out += "; " + safe(s.Note)
	}
	return out
}

func kib(b float64) string { return digits(b/1024) + " KiB" }

func bytesOr(b *int64, otherwise string) string {
	if b == nil {
		return otherwise
	}
	return bytes(*b)
}

func baselinePairs(rep *results.Report) [][2]string {
	b := rep.Baseline
	out := [][2]string{{"interference", safe(b.Verdict)}}
	if s := b.Latency; s != nil {
		mark := ""
		if !s.P95Supported {
			mark = " (on too few, it needs 59)"
		}
		out = append(out, [2]string{"single requests", fmt.Sprintf("n %d, min %s s, median %s s, P95 %s s%s, max %s s",
			s.N, seconds(s.MinS), seconds(s.MedianS), seconds(s.P95S), mark, seconds(s.MaxS))})
	}
	if len(b.Failures) > 0 {
		out = append(out, [2]string{"failed", failed(b.Failures)})
	}
	if len(b.Warmups) > 0 {
		out = append(out, [2]string{"failed warm-ups", failed(b.Warmups)})
	}
	per := cmp.Or(safe(b.TokensReason), unknown)
	if b.SPer1000Tokens != nil {
		per = seconds(*b.SPer1000Tokens) + " s (of input and output together)"
	}
	out = append(out, [2]string{"per 1,000 tokens", per})
	if b.SPer1000Completion != nil {
		out = append(out, [2]string{"per 1,000 completion tokens", seconds(*b.SPer1000Completion) + " s (the whole latency, charged to the output alone)"})
	}
	idle := safe(b.IdleReason)
	if b.IdleBytes != nil {
		idle = fmt.Sprintf("%s, median of %s", bytes(*b.IdleBytes), plural(b.IdleSamples, "sample", "samples"))
		if b.IdleProbedBytes != nil {
			idle = fmt.Sprintf("%s before the first request; %s after the probes, median of %s",
				bytes(*b.IdleBytes), bytes(*b.IdleProbedBytes), plural(b.IdleSamples, "sample", "samples"))
		}
	}
	return append(out, [2]string{"idle memory", cmp.Or(idle, unknown)})
}
