package render

import (
	"fmt"

	"rung/results"
)

// equalTables hold batch ladders against concurrency ladders at equal throughput.
func equalTables(rep *results.Report) []table {
	var out []table
	for _, e := range rep.Equal {
		t := table{
			caption: "At equal throughput",
			notes:   []string{fmt.Sprintf("the rungs of ladder %q, and ladder %s at their throughput", safe(e.Batch), safe(e.Concurrency))},
			head: []column{
				{name: safe(e.Unit)}, {name: "batch"}, {name: "median, s", wide: true}, {name: "P95, s"},
				{name: "concurrency", note: "at which the other ladder has that throughput, between the two rungs around it; nothing is extrapolated"}, {name: "its median, s", wide: true}, {name: "its P95, s"},
			},
		}
		for _, r := range e.Rows {
			row := []string{digits(r.Throughput), value(r.Batch), seconds(r.BatchMedian), seconds(r.BatchP95), unknown, unknown, unknown}
			if r.Concurrency != nil && r.Median != nil && r.P95 != nil {
				row[4], row[5], row[6] = digits(*r.Concurrency), seconds(*r.Median), seconds(*r.P95)
			}
			t.rows = append(t.rows, row)
		}
		out = append(out, t)
	}
	return out
}

// besideWords are what explains a ladder's bend beside the verdict.
func besideWords(l *results.Ladder) []string {
	b := l.Knee.Beside
	if b == nil {
		return nil
	}
	var out []string
	for _, r := range b.Rules {
		out = append(out, safe(fmt.Sprintf("%s would say: %s", r.Rule, r.Says)))
	}
	if b.NStar != nil {
		out = append(out, fmt.Sprintf("N* = X_max·R₁ = %s: what would be in flight if nothing waited", digits(*b.NStar)))
	}
	if b.USL != nil {
		out = append(out, "Universal Scalability Law: "+safe(b.USL.Words()))
	}
	return out
}
