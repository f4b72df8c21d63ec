package results

import (
	"fmt"
	"slices"
	"strings"

	"rung/sinks/record"
)

// Met is a limit of the server's own that requests of a ladder met.
type Met struct {
	Limit     record.Limit `json:"limit"`
	Setting   string       `json:"setting"` // what to look at in the server
	N         int          `json:"n"`       // warm-ups, measured and confirming requests
	Incidents int          `json:"incidents"`
	Values    []float64    `json:"values"` // of the rungs, rising
}

// met lists the limits in the order of the rungs that first met them.
func met(rows visits) []Met {
	var out []Met
	incidents := map[record.Limit]map[int64]bool{}
	for _, a := range rows {
		for k, n := range a.rows.Kinds() {
			if !k.Failed() || k.Limit == "" {
				continue
			}
			i := slices.IndexFunc(out, func(m Met) bool { return m.Limit == k.Limit })
			if i < 0 {
				i = len(out)
				out = append(out, Met{Limit: k.Limit, Setting: k.Limit.Setting()})
				incidents[k.Limit] = map[int64]bool{}
			}
			out[i].N += n
			if k.Incident != nil {
				incidents[k.Limit][*k.Incident] = true
			}
			if !slices.Contains(out[i].Values, a.Value) {
				out[i].Values = append(out[i].Values, a.Value)
			}
		}
	}
	for i := range out {
		slices.Sort(out[i].Values)
		out[i].Incidents = len(incidents[out[i].Limit])
	}
	slices.SortStableFunc(out, func(a, b Met) int { return slices.Compare(a.Values, b.Values) })
	return out
}

// notice says which setting of the server a limit is, and that one cause is one.
func (m Met) notice(ladder string, say func(string, ...any)) {
	values := make([]string, len(m.Values))
	for i, v := range m.Values {
		values[i] = fmt.Sprintf("%g", v)
	}
	of := ""
	if m.Incidents > 0 && m.Incidents < m.N {
		of = fmt.Sprintf(" in %s", count(m.Incidents, "incident", "incidents"))
	}
	setting := m.Setting
	if setting == "" {
		setting = string(m.Limit)
	}
	say("Ladder %q at %s: %s met a limit of the server%s: %s.", ladder, strings.Join(values, ", "), count(m.N, "request", "requests"), of, setting)
}
