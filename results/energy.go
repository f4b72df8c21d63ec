package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rung/sinks/record"
)

// energy fills in what 1,000 tokens of single requests take, over all cards that count
// their energy: from the first sample in the requests' time to the last.
func (b *Baseline) energy(r *Run, all visits) {
	rows := all.in(record.Baseline)
	span := rows.span()
	if b.Latency == nil || span.Len() <= 0 {
		return
	}
	joules, from, to := 0.0, span.End, span.Begin
	known := false
	for _, card := range byDevice(r.Samples) {
		var first, last *record.Sample
		for _, s := range card {
			if s.EnergyJ == nil || s.TS < span.Begin || s.TS > span.End {
				continue
			}
			if first == nil {
				first = s
			}
			last = s
		}
		if first == nil || last.TS <= first.TS || *last.EnergyJ < *first.EnergyJ {
			continue
		}
		joules += *last.EnergyJ - *first.EnergyJ
		from, to, known = min(from, first.TS), max(to, last.TS), true
	}
	tokens := 0.0
	for _, a := range rows {
		for q := range a.rows.All() {
			if q.Outcome != record.OK || q.DoneTS < from || q.DoneTS > to {
				continue
			}
			if q.InputTokens == nil {
				return // the server did not count them
			}
			tokens += float64(*q.InputTokens)
			if q.OutputTokens != nil {
				tokens += float64(*q.OutputTokens)
			}
		}
	}
	if known && tokens > 0 {
		b.JPer1000Tokens = finite(1000 * joules / tokens)
	}
}

// byDevice sorts samples into those of each card, in order of time.
func byDevice(samples []record.Sample) [][]*record.Sample {
	sorted := make([]*record.Sample, len(samples))
	for i := range samples {
		sorted[i] = &samples[i]
	}
	slices.SortFunc(sorted, func(a, b *record.Sample) int {
		return cmp.Or(cmp.Compare(a.Device, b.Device), compareSamples(a, b), cmp.Compare(valueOr(a.EnergyJ), valueOr(b.EnergyJ)))
	})
	var out [][]*record.Sample
	for i, s := range sorted {
		if i == 0 || s.Device != sorted[i-1].Device {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], s)
	}
	return out
}

// others says which processes came and went on the cards while single requests were
// sent: what else uses the machine.
func (b *Baseline) others(r *Run, all visits) {
	span := all.in(record.Baseline).span()
	if span.Len() <= 0 {
		return
	}
	seen, samples := map[int64]int{}, 0
	for _, s := range r.Samples {
		if s.TS < span.Begin || s.TS > span.End || len(s.Processes) == 0 {
			continue
		}
		samples++
		for _, pid := range s.Processes {
			seen[pid]++
		}
	}
	var pids []int64
	for pid, n := range seen {
		if n < samples { // not there throughout
			pids = append(pids, pid)
		}
	}
	if len(pids) == 0 {
		return
	}
	slices.Sort(pids)
	names := make([]string, len(pids))
	for i, pid := range pids {
		names[i] = fmt.Sprint(pid)
	}
	b.Others = fmt.Sprintf("something else uses this machine: on its cards %s came or went while single requests were sent (pid %s)",
		count(len(pids), "process", "processes"), strings.Join(names, ", "))
}
