package results

import (
	"fmt"

	"rung/spec/plan"
)

// Equal holds a batch ladder against a concurrency ladder of the same inputs: what it
// costs in latency to reach one throughput by either.
type Equal struct {
	Batch       string     `json:"batch"`       // the ladders
	Concurrency string     `json:"concurrency"` // with its batch
	Unit        string     `json:"throughput_unit"`
	Rows        []EqualRow `json:"rows"`
}

// EqualRow is one throughput: that of a rung of the batch ladder, and what the
// concurrency ladder has there, interpolated between the two rungs around it.
type EqualRow struct {
	Throughput  float64  `json:"throughput"`
	Batch       float64  `json:"batch"`
	BatchMedian float64  `json:"batch_median_s"`
	BatchP95    float64  `json:"batch_p95_s"`
	Concurrency *float64 `json:"concurrency,omitempty"` // nil where it never had that throughput: nothing is extrapolated
	Median      *float64 `json:"concurrency_median_s,omitempty"`
	P95         *float64 `json:"concurrency_p95_s,omitempty"`
}

// equals are the pairs of ladders that can be held against each other.
func equals(ladders []*walked) []Equal {
	var out []Equal
	for _, a := range ladders {
		for _, b := range ladders {
			if a.plan.Axis == plan.AxisBatch && b.plan.Axis == plan.AxisConcurrency && a.unit.name == b.unit.name && sameInputs(a, b) {
				if e := equal(a, b); len(e.Rows) > 0 {
					out = append(out, e)
				}
			}
		}
	}
	return out
}

// sameInputs says that two ladders send inputs of one length and one prompt.
func sameInputs(a, b *walked) bool {
	if len(a.plan.Rungs) == 0 || len(b.plan.Rungs) == 0 {
		return false
	}
	x, y := a.plan.Rungs[0].Shape, b.plan.Rungs[0].Shape
	return x.InputTokens == y.InputTokens && x.OutputTokens == y.OutputTokens && a.plan.Prompt.Name == b.plan.Prompt.Name
}

func equal(a, b *walked) Equal {
	out := Equal{Batch: a.plan.Name, Unit: a.unit.name}
	out.Concurrency = fmt.Sprintf("%s (batch %d)", b.plan.Name, b.plan.Rungs[0].Shape.Batch)
	rungs, _ := a.usable()
	others, _ := b.usable()
	some := false
	for _, r := range rungs {
		row := EqualRow{Throughput: *r.Throughput, Batch: r.Value, BatchMedian: r.Latency.MedianS, BatchP95: r.Latency.P95S}
		for i := 1; i < len(others) && row.Concurrency == nil; i++ {
			low, high := others[i-1], others[i]
			x0, x1 := *low.Throughput, *high.Throughput
			if x0 > row.Throughput || x1 < row.Throughput || x1 <= x0 {
				continue
			}
			part := (row.Throughput - x0) / (x1 - x0)
			between := func(y0, y1 float64) *float64 { return finite(y0 + part*(y1-y0)) }
			row.Concurrency = between(low.Value, high.Value)
			row.Median, row.P95 = between(low.Latency.MedianS, high.Latency.MedianS), between(low.Latency.P95S, high.Latency.P95S)
			some = true
		}
		out.Rows = append(out.Rows, row)
	}
	if !some {
		out.Rows = nil
	}
	return out
}
