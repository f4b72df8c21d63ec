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
	for _, t := range equalTables(rep) {
		out = append(out, block{heading: "Batch against concurrency", level: 2}, block{table: &t})
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
	if b.JPer1000Tokens != nil {
		out = append(out, [2]string{"energy", digits(*b.JPer1000Tokens) + " J per 1,000 tokens, of all cards that count it"})
	}
	if b.Others != "" {
		out = append(out, [2]string{"other load", safe(b.Others)})
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
