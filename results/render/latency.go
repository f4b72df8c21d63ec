package render

import (
	"slices"
	"strconv"
	"strings"

	"rung/results"
)

// latencyTable is the latency of the counted successes.
func latencyTable(l *results.Ladder) table {
	t := table{caption: "Latency, s", head: []column{
		{name: axisHead(l.Axis)}, {name: "n", note: "counted successes"}, {name: "min"}, {name: "median"}, {name: "mean", wide: true},
		{name: "P95", note: "19 of 20 requests took no longer"}, {name: "P99"}, {name: "max"},
		{name: "95 % of P95", wide: true, note: "its interval by ranks"}, {name: "over passes", wide: true, note: "the least and the greatest P95 of a pass"},
	}, notes: []string{"latency: from when a request was due to the last byte of its answer"}}
	var few fewMarks
	var none []string
	for _, r := range l.Rungs {
		s := r.Latency
		if s == nil {
			t.rows = append(t.rows, []string{value(r.Value), "0", unknown, unknown, unknown, unknown, unknown, unknown, unknown, unknown})
			none = append(none, value(r.Value))
			continue
		}
		t.rows = append(t.rows, []string{
			value(r.Value), strconv.Itoa(s.N), seconds(s.MinS), seconds(s.MedianS), seconds(s.MeanS),
			seconds(s.P95S) + few.p95(s.P95Supported, s.N), seconds(s.P99S) + few.p99(s.P99Supported, s.N), seconds(s.MaxS),
			interval(s.P95In), spread(r.P95ByPass),
		})
	}
	for _, i := range []int{9, 8} {
		if !slices.ContainsFunc(t.rows, func(row []string) bool { return row[i] != unknown }) {
			t.drop(t.head[i].name)
		}
	}
	if len(none) > 0 {
		t.notes = append(t.notes, strings.Join(none, ", ")+": no counted success")
	}
	t.notes = append(t.notes, few.notes()...)
	return t
}

// interval is one of 95 %, in seconds.
func interval(in *results.Interval) string {
	if in == nil {
		return unknown
	}
	return seconds(in.Low) + "–" + seconds(in.High)
}

// spread is the reach of a figure over the passes.
func spread(byPass []*float64) string {
	low, high, ok := reach(byPass)
	if !ok {
		return unknown
	}
	return seconds(low) + "–" + seconds(high)
}
