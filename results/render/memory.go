package render

import (
	"strconv"
	"strings"

	"rung/results"
)

// memoryTable is the peak memory of each rung on the first walk up.
func memoryTable(l *results.Ladder) table {
	t := table{caption: "Peak memory on the first walk up, GiB", head: []column{
		{name: axisHead(l.Axis)}, {name: "peak"}, {name: "over idle", note: "above what the loaded model holds by itself"},
		{name: "over the rung below"}, {name: "samples", note: "readings of the card in that time"},
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
		t.notes = append(t.notes, strings.Join(reasons[why], ", ")+": "+why)
	}
	return t
}
