package render

import (
	"fmt"
	"strconv"
	"strings"

	"rung/results"
)

// tables are all of a ladder, in the order in which they are read.
func tables(rep *results.Report, l *results.Ladder) []table {
	first := throughputTable(l)
	if l.Capacity != nil {
		first = rateTable(l)
	}
	out := []table{first, latencyTable(l)}
	out = append(out, streamTables(l)...)
	for _, t := range []table{answersTable(l), goodputTable(rep, l)} {
		if len(t.rows) > 0 {
			out = append(out, t)
		}
	}
	if t := serverTable(rep, l); len(t.rows) > 0 {
		out = append(out, t)
	}
	return append(out, memoryTable(l))
}

// streamTables are what streams showed before their end; none where nothing was
// streamed.
func streamTables(l *results.Ladder) []table {
	streamed := false
	for _, r := range l.Rungs {
		streamed = streamed || r.Stream != nil
	}
	if !streamed {
		return nil
	}
	of := func(get func(*results.Stream) *results.Latency) func(results.Rung) (*results.Latency, int) {
		return func(r results.Rung) (*results.Latency, int) {
			if r.Stream == nil {
				return nil, 0
			}
			s := get(r.Stream)
			if s == nil {
				return nil, 0
			}
			return s, s.N
		}
	}
	ttft := spanTable(l, "Time to first token, s", seconds, of(func(s *results.Stream) *results.Latency { return s.TTFT }))
	ttft.notes = append([]string{"from when a request was due to its first generated token, of any channel"}, ttft.notes...)
	for _, r := range l.Rungs {
		if r.Stream != nil && r.Stream.Untimed > 0 {
			ttft.notes = append(ttft.notes, fmt.Sprintf("%s: %s without a first token", value(r.Value), plural(r.Stream.Untimed, "success", "successes")))
		}
	}
	tpot := spanTable(l, "Time per output token after the first, ms", milliseconds, of(func(s *results.Stream) *results.Latency { return s.TPOT }))
	tpot.notes = append([]string{"(latency - time to first token) / (output tokens - 1), by the server's count; answers of two tokens and more"}, tpot.notes...)
	gaps := spanTable(l, "Gaps between chunks, ms (a chunk is not a token)", milliseconds, func(r results.Rung) (*results.Latency, int) {
		if r.Stream == nil || r.Stream.Gaps == nil {
			return nil, 0
		}
		return &r.Stream.Gaps.Latency, r.Stream.Gaps.Answers
	})
	gaps.head[1].name, gaps.head[1].note = "answers", "those of one answer hang together, so that percentiles rest on as many"
	return []table{ttft, tpot, gaps}
}

// spanTable is the spread of one span of each rung; get gives it, and on how many
// requests its percentiles rest.
func spanTable(l *results.Ladder, caption string, show func(float64) string, get func(results.Rung) (*results.Latency, int)) table {
	t := table{caption: caption, head: []column{
		{name: axisHead(l.Axis)}, {name: "n"}, {name: "min"}, {name: "median"}, {name: "mean", wide: true}, {name: "P95"}, {name: "P99"}, {name: "max"},
	}}
	var few fewMarks
	most := 0.0
	for _, r := range l.Rungs {
		if s, _ := get(r); s != nil {
			most = max(most, s.P95S)
		}
	}
	for _, r := range l.Rungs {
		s, n := get(r)
		if s == nil {
			t.rows, t.bars = append(t.rows, []string{value(r.Value), "0", unknown, unknown, unknown, unknown, unknown, unknown}), append(t.bars, 0)
			continue
		}
		t.rows = append(t.rows, []string{
			value(r.Value), strconv.Itoa(n), show(s.MinS), show(s.MedianS), show(s.MeanS),
			show(s.P95S) + few.p95(s.P95Supported, n), show(s.P99S) + few.p99(s.P99Supported, n), show(s.MaxS),
		})
		bar := 0.0
		if most > 0 {
			bar = s.P95S / most
		}
		t.bars = append(t.bars, bar)
	}
	t.notes = few.notes()
	return t
}

func milliseconds(s float64) string { return fmt.Sprintf("%.3f", 1000*s) }

// fewMarks collects on how few values percentiles were printed.
type fewMarks struct{ of95, of99 []int }

func (f *fewMarks) p95(supported bool, n int) string { return mark(&f.of95, supported, n) }
func (f *fewMarks) p99(supported bool, n int) string { return mark(&f.of99, supported, n) }

func mark(of *[]int, supported bool, n int) string {
	if supported {
		return ""
	}
	*of = append(*of, n)
	return fewRequests
}

func (f *fewMarks) notes() []string {
	var out []string
	for _, p := range []struct {
		name  string
		of    []int
		needs int
	}{{"P95", f.of95, results.P95Needs}, {"P99", f.of99, results.P99Needs}} {
		if len(p.of) > 0 {
			out = append(out, fewRequests+" "+unsupported(p.name, p.of, p.needs))
		}
	}
	return out
}

// unsupported says of how few values a percentile is, and how many it takes.
func unsupported(name string, of []int, needs int) string {
	low, high := of[0], of[0]
	for _, n := range of {
		low, high = min(low, n), max(high, n)
	}
	n := strconv.Itoa(low)
	if low < high {
		n += fmt.Sprintf(" to %d", high)
	}
	return fmt.Sprintf("%s not supported by n=%s (needs %d)", name, n, needs)
}

// answersTable is how the answers of a generating model ended; without rows for
// another, and where the server says nothing of it.
func answersTable(l *results.Ladder) table {
	t := table{caption: "Answers, output tokens", head: []column{
		{name: axisHead(l.Axis)}, {name: "n", note: "counted successes"}, {name: "min"}, {name: "mean"}, {name: "max"},
		{name: "asked", wide: true}, {name: "short", wide: true, note: "of fewer tokens than asked"},
		{name: "no usage", wide: true, note: "answers whose tokens are unknown; nothing is put in their place"},
		{name: "finish reasons", left: true, note: "in the server's words"},
	}}
	for _, r := range l.Rungs {
		a := r.Answers
		if a == nil {
			continue
		}
		row := []string{value(r.Value), strconv.Itoa(a.N), unknown, unknown, unknown, unknown, unknown, strconv.Itoa(a.WithoutUsage), finishes(a)}
		if o := r.Output; o != nil {
			row[2], row[3], row[4], row[5], row[6] = strconv.Itoa(o.Min), digits(o.Mean), strconv.Itoa(o.Max), strconv.Itoa(o.Planned), strconv.Itoa(o.Short)
		}
		t.rows = append(t.rows, row)
	}
	if len(t.rows) != len(l.Rungs) { // a row a rung, or none
		t.rows = nil
	}
	return t
}

// mostFinishes bounds how many reasons are named.
const mostFinishes = 4

func finishes(a *results.Answers) string {
	var out []string
	for i, f := range a.Finish {
		if i == mostFinishes {
			out = append(out, "…")
			break
		}
		out = append(out, fmt.Sprintf("%d %s", f.N, orWord(f.Name, "none given")))
	}
	return strings.Join(out, ", ")
}
