package render

import (
	"fmt"
	"strconv"
	"strings"

	"rung/results"
)

// rateTable is what came due at each rate, and what became of it.
func rateTable(l *results.Ladder) table {
	t := table{caption: fmt.Sprintf("Arrivals and answers, a second (%s arrivals)", orWord(l.Arrivals, "declared")), head: []column{
		{name: axisHead(l.Axis)}, {name: "n", note: "counted successes"},
		{name: "failed", left: true, note: "of all measured requests, refused rounds too"},
		{name: "dropped", note: "due and never sent, as many were in flight as may be"},
		{name: "offered", note: "requests due over the rounds' planned duration"},
		{name: "achieved", note: "successes that ended within it"},
		{name: "share", note: "achieved over offered"},
		{name: shortUnit(l.Unit), wide: true, note: "throughput, " + l.Unit + " over the planned duration"},
		{name: "in flight", wide: true, note: "requests, on average"},
		{name: "late, ms", wide: true, note: "P95 of the sends behind when they were due"}, {name: "", left: true},
	}}
	most := 0.0
	for _, r := range l.Rungs {
		if r.Open != nil {
			most = max(most, r.Open.OfferedPerS)
		}
	}
	for _, r := range l.Rungs {
		row := []string{value(r.Value), strconv.Itoa(counted(r)), failed(r.Failures), unknown, unknown, unknown, unknown, rate(r.Throughput), rate(r.MeanInFlight), unknown, rateMarks(r)}
		bar := 0.0
		if o := r.Open; o != nil {
			row[3], row[4], row[5], row[6] = strconv.Itoa(o.Dropped), digits(o.OfferedPerS), digits(o.DonePerS), fmt.Sprintf("%.0f %%", 100*o.Ratio)
			if o.LateP95S != nil {
				row[9] = fmt.Sprintf("%.2f", 1000**o.LateP95S)
			}
			if o.Few {
				row[1] += fewRequests
				t.notes = append(t.notes, fmt.Sprintf("%s %s: only %s came due, and one of them is more than the 2 %% by which saturation is told", fewRequests, value(r.Value), plural(o.Arrivals, "request", "requests")))
			}
			if o.Saturated {
				t.notes = append(t.notes, safe(fmt.Sprintf("%s: saturated, %s", value(r.Value), o.Why)))
			}
			if most > 0 {
				bar = min(1, o.DonePerS/most)
			}
		}
		t.rows, t.bars = append(t.rows, row), append(t.bars, bar)
		few, rest := shortFailed(r)
		t.head[2].short = append(t.head[2].short, few)
		if rest != "" {
			t.head[2].rest = append(t.head[2].rest, rest)
		}
	}
	t.notes = append(t.notes, unsaid(l)...)
	t.explain(l)
	return t
}

// rateMarks are a rung's marks, and whether it is saturated.
func rateMarks(r results.Rung) string {
	out := marks(r.Marks)
	if r.Open != nil && r.Open.Saturated {
		out = strings.TrimPrefix(out+", saturated", ", ")
	}
	return out
}

func counted(r results.Rung) int {
	if r.Latency == nil {
		return 0
	}
	return r.Latency.N
}

func orWord(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return safe(s)
}

// shortUnit is a unit for the head of a narrow column.
func shortUnit(unit string) string {
	return strings.Replace(unit, "output tokens", "tokens", 1)
}

// unsaid says which rungs have no throughput, by the reason.
func unsaid(l *results.Ladder) []string {
	values := map[string][]string{}
	var order, out []string
	for _, r := range l.Rungs {
		if why := r.ThroughputReason; why != "" {
			if values[why] == nil {
				order = append(order, why)
			}
			values[why] = append(values[why], value(r.Value))
		}
	}
	for _, why := range order {
		out = append(out, fmt.Sprintf("%s: throughput unknown, %s", strings.Join(values[why], ", "), safe(why)))
	}
	return out
}

// explain says what the marks are, how sure the failure ratios are, and what the server
// said of failures.
func (t *table) explain(l *results.Ladder) {
	if m := markWords(l); m != "" {
		t.notes = append(t.notes, m)
	}
	t.notes = append(t.notes, failureRates(l)...)
	for _, s := range l.Said {
		t.notes = append(t.notes, said(l, s))
	}
}

// goodputTable is what of each rung met the declared objectives.
func goodputTable(rep *results.Report, l *results.Ladder) table {
	t := table{caption: "Goodput: requests that meet " + objectives(rep), head: []column{
		{name: axisHead(l.Axis)}, {name: "requests", note: "of the rounds that count, failures too"}, {name: "met all"},
		{name: "share"}, {name: "goodput, requests/s", note: "in the steady windows"},
	}}
	most := 0.0
	some := false
	for _, r := range l.Rungs {
		if g := r.Goodput; g != nil {
			some = true
			if g.PerS != nil {
				most = max(most, *g.PerS)
			}
		}
	}
	if !some {
		return table{}
	}
	var order []string
	why := map[string][]string{}
	for _, r := range l.Rungs {
		row, bar := []string{value(r.Value), unknown, unknown, unknown, unknown}, 0.0
		if g := r.Goodput; g != nil {
			row[1] = strconv.Itoa(g.Of)
			if g.Share != nil {
				row[2], row[3] = strconv.Itoa(g.Good), share(*g.Share)
			}
			row[4] = rate(g.PerS)
			if g.PerS != nil && most > 0 {
				bar = *g.PerS / most
			}
			if g.Reason != "" {
				if why[g.Reason] == nil {
					order = append(order, g.Reason)
				}
				why[g.Reason] = append(why[g.Reason], value(r.Value))
			}
		}
		t.rows, t.bars = append(t.rows, row), append(t.bars, bar)
	}
	for _, w := range order {
		t.notes = append(t.notes, strings.Join(why[w], ", ")+": "+safe(w))
	}
	return t
}

// share is a share in percent, to a decimal, and 100 only of all.
func share(x float64) string {
	if x < 1 && x > 0.9995 {
		return "99.9 %"
	}
	return fmt.Sprintf("%.1f %%", 100*x)
}

// objectives are the declared parts in words.
func objectives(rep *results.Report) string {
	var out []string
	if s := rep.SLO; s != nil {
		for _, p := range []struct {
			name string
			s    float64
		}{{"latency", s.Latency.Seconds()}, {"TTFT", s.TTFT.Seconds()}, {"TPOT", s.TPOT.Seconds()}} {
			if p.s > 0 {
				out = append(out, p.name+" "+span(p.s))
			}
		}
	}
	return strings.Join(out, ", ")
}

// failureRates are the intervals of the failure ratios: of each rung that failed, and of
// those that did not, the narrowest.
func failureRates(l *results.Ladder) []string {
	var failing []string
	var clean *results.Rate
	for _, r := range l.Rungs {
		f := r.FailureRate
		switch {
		case f == nil:
		case f.Failed > 0:
			failing = append(failing, fmt.Sprintf("%s: %d of %d failed, a rate of %s to %s", value(r.Value), f.Failed, f.N, share(f.Low), share(f.High)))
		case clean == nil || f.N < clean.N:
			clean = f
		}
	}
	if len(failing) > 0 {
		failing[len(failing)-1] += " (95 %, Clopper and Pearson)"
	}
	if clean != nil {
		failing = append(failing, fmt.Sprintf("no failure in %d requests, the fewest of a rung without, means a rate below %s", clean.N, share(clean.High)))
	}
	return failing
}
