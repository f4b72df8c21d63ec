package render

import (
	"fmt"
	"strconv"

	"rung/results"
	"rung/spec/plan"
)

// table is a table in every form: cells are safe text.
type table struct {
	caption string
	head    []column
	rows    [][]string
	notes   []string  // what the marks in the cells mean
	bars    []float64 // of each row, from 0 to 1, where there is room; nil for none
}

// column is one column's head.
type column struct {
	name string
	left bool // text; figures stand to the right
	wide bool // left out where there is little room
}

const (
	fewRequests = "*"
	fewSamples  = "†"
	fewestRows  = 5 // samples of a rung below which its peak is marked
)

// axisHead is what a rung's value counts.
func axisHead(a plan.Axis) string {
	if a == plan.AxisInputTokens {
		return "tokens"
	}
	return string(a)
}

// throughputTable is what each rung did, and what it brought over the rung below.
func throughputTable(l *results.Ladder) table {
	batch := l.Axis == plan.AxisBatch
	t := table{caption: "Throughput, " + l.Unit, head: []column{
		{name: axisHead(l.Axis)}, {name: "n"}, {name: "failed", left: true}, {name: "throughput"}, {name: "more", wide: true},
		{name: "more, %"}, {name: "of before", wide: true}, {name: "batch/P50", wide: true}, {name: "in flight", wide: true}, {name: "", left: true},
	}}
	most := 0.0
	for _, r := range l.Rungs {
		if r.Throughput != nil {
			most = max(most, *r.Throughput)
		}
	}
	for _, r := range l.Rungs {
		n := 0
		if r.Latency != nil {
			n = r.Latency.N
		}
		more, pct, over := unknown, unknown, unknown
		if i := r.Increment; i != nil {
			more, pct = signedDigits(i.Absolute), percent(i.Relative)
			if i.OverBefore != nil {
				over = fmt.Sprintf("%.2f", *i.OverBefore)
			}
		}
		t.rows = append(t.rows, []string{
			value(r.Value), strconv.Itoa(n), failed(r.Failures), rate(r.Throughput), more, pct, over, rate(r.InputsPerP50), rate(r.MeanInFlight), marks(r.Marks),
		})
		bar := 0.0
		if r.Throughput != nil && most > 0 {
			bar = *r.Throughput / most
		}
		t.bars = append(t.bars, bar)
		if r.ThroughputReason != "" {
			t.notes = append(t.notes, fmt.Sprintf("%s: throughput unknown, %s", value(r.Value), r.ThroughputReason))
		}
	}
	if !batch {
		t.drop("batch/P50")
	}
	return t
}

func signedDigits(x float64) string {
	if x >= 0 {
		return "+" + digits(x)
	}
	return digits(x)
}

// drop takes a column out.
func (t *table) drop(name string) {
	for i, c := range t.head {
		if c.name != name {
			continue
		}
		t.head = append(t.head[:i:i], t.head[i+1:]...)
		for j, row := range t.rows {
			t.rows[j] = append(row[:i:i], row[i+1:]...)
		}
		return
	}
}

// latencyTable is the latency of the counted successes.
func latencyTable(l *results.Ladder) table {
	t := table{caption: "Latency from due to done, s", head: []column{
		{name: axisHead(l.Axis)}, {name: "n"}, {name: "min"}, {name: "median"}, {name: "mean"}, {name: "P95"}, {name: "max"},
	}}
	few := false
	for _, r := range l.Rungs {
		s := r.Latency
		if s == nil {
			t.rows = append(t.rows, []string{value(r.Value), "0", unknown, unknown, unknown, unknown, unknown})
			t.notes = append(t.notes, value(r.Value)+": no counted success")
			continue
		}
		mark := ""
		if !s.P95Supported {
			mark, few = fewRequests, true
		}
		t.rows = append(t.rows, []string{
			value(r.Value), strconv.Itoa(s.N), seconds(s.MinS), seconds(s.MedianS), seconds(s.MeanS), seconds(s.P95S) + mark, seconds(s.MaxS),
		})
	}
	if few {
		t.notes = append(t.notes, fewRequests+" P95 on too few requests: it needs 59 for any 95 % interval")
	}
	return t
}

// memoryTable is the peak memory of each rung on the first walk up.
func memoryTable(l *results.Ladder) table {
	t := table{caption: "Peak memory on the first walk up, GiB", head: []column{
		{name: axisHead(l.Axis)}, {name: "peak"}, {name: "over idle"}, {name: "over the rung below"}, {name: "samples"},
	}}
	few, high := false, false
	reasons := map[string][]string{}
	var order []string
	for _, r := range l.Rungs {
		m := r.Memory
		if m == nil {
			t.rows = append(t.rows, []string{value(r.Value), unknown, unknown, unknown, "0"})
			if reasons[r.MemoryReason] == nil {
				order = append(order, r.MemoryReason)
			}
			reasons[r.MemoryReason] = append(reasons[r.MemoryReason], value(r.Value))
			continue
		}
		samples, peak := strconv.Itoa(m.Samples), gib(m.PeakBytes)
		if m.Samples < fewestRows {
			samples, few = samples+fewSamples, true
		}
		if m.AfterHighWater {
			peak, high = peak+"^", true
		}
		t.rows = append(t.rows, []string{value(r.Value), peak, signed(m.OverIdleBytes), signed(m.OverBelowBytes), samples})
	}
	if high {
		t.notes = append(t.notes, "^ after high water: earlier load had taken as much already, so the peak says nothing of this rung")
	}
	if few {
		t.notes = append(t.notes, fewSamples+" fewer than five samples: a spike between two of them is not seen")
	}
	for _, why := range order {
		if len(reasons[why]) == len(l.Rungs) {
			return table{notes: []string{why}}
		}
		t.notes = append(t.notes, fmt.Sprintf("%v: %s", reasons[why], why))
	}
	return t
}
