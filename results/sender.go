package results

import (
	"cmp"
	"slices"

	"rung/sinks/record"
)

// Sender is what the client did in a rung's windows.
type Sender struct {
	InFlight  *float64 `json:"in_flight,omitempty"`  // on average
	LateP95S  *float64 `json:"late_p95_s,omitempty"` // of the sends, behind when their turn came
	LateShare *float64 `json:"late_share,omitempty"` // the same, of the median latency
	CPUPct    *float64 `json:"cpu_pct,omitempty"`    // of the processor time that it may have, on average
}

// watch fills in what server, card and client showed at the rungs that were walked; the
// client's samples are in order of time.
func (w *walked) watch(page []reading, card watched, client []record.ClientSample) {
	each(len(w.out.Rungs), func(i int) {
		r := &w.out.Rungs[i]
		r.Gauges, r.Card, r.Client = w.gauges(page, r.Index), w.card(card, r.Index), w.sender(client, r.Index)
	})
}

// leastLate is what a timer can't keep, in seconds: no client is late by less.
const leastLate = 0.001

// lateness is by how much each send was behind when it was due, in seconds.
func (v visits) lateness() []float64 {
	out := make([]float64, 0, v.requests())
	for _, a := range v {
		for i, t := range a.rows.Round().Times {
			if t.Sent() && !a.rows.Kind(i).ResetIdle {
				out = append(out, t.SentTS-t.DueTS)
			}
		}
	}
	return out
}

func (w *walked) sender(client []record.ClientSample, rung int) Sender {
	var out Sender
	v := w.looked(rung)
	out.InFlight = w.flow(v, rung, requests().each).inFlight()
	var cpu []float64
	late := v.lateness()
	if l := v.latencies(); len(late) > 0 && len(l) > 0 {
		out.LateP95S = finite(record.QuantileOf(late, 0.95))
		if m := record.QuantileOf(l, 0.5); m > 0 && out.LateP95S != nil {
			out.LateShare = finite(*out.LateP95S / m)
		}
	}
	for _, window := range w.windows(v, rung) {
		i, _ := slices.BinarySearchFunc(client, window.Begin, func(s record.ClientSample, t float64) int { return cmp.Compare(s.TS, t) })
		for ; i < len(client) && client[i].TS <= window.End; i++ {
			if finite(client[i].CPUPct) != nil {
				cpu = append(cpu, client[i].CPUPct)
			}
		}
	}
	if len(cpu) > 0 {
		out.CPUPct = finite(mean(slices.Sorted(slices.Values(cpu))))
	}
	return out
}
