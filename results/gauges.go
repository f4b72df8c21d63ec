package results

import (
	"cmp"
	"math"
	"slices"

	"rung/results/rows"
	"rung/sinks/record"
	"rung/spec/plan"
)

// series is one of the server's own metrics that the report reads.
type series int

const (
	seriesWaiting series = iota
	seriesRunning
	seriesKVUsage // from 0 to 1, the greatest over engines
	seriesKVTokens
	seriesPreemptions
	seriesAtCap
	allSeries // how many there are
)

// String is the name that all servers share.
func (s series) String() string {
	return [allSeries]string{"waiting", "running", "kv_usage", "kv_tokens", "preemptions", "batch_size_top_share"}[s]
}

// reading is one look at the server's page: the value of each series, NaN where it gave
// none.
type reading struct {
	ts     float64
	values [allSeries]float64
}

// get is a series' value; ok is false where the page gave none.
func (r *reading) get(s series) (value float64, ok bool) {
	return r.values[s], !math.IsNaN(r.values[s])
}

// Metrics says whether the server's own metrics were read, and how.
type Metrics struct {
	Readings  int      `json:"readings"`
	IntervalS float64  `json:"interval_s,omitempty"`
	Series    []string `json:"series,omitempty"` // those that the report reads and the server gave
	Reason    string   `json:"reason,omitempty"` // why there are none
}

// Gauges are what the server said of itself in the steady windows of a rung's rounds,
// over all passes. What it did not say is nil.
type Gauges struct {
	Readings     int      `json:"readings"`
	WaitingMean  *float64 `json:"waiting_mean,omitempty"` // requests
	WaitingMost  *float64 `json:"waiting_most,omitempty"`
	WaitingShare *float64 `json:"waiting_share,omitempty"` // of the readings, in which some request waited
	RunningMean  *float64 `json:"running_mean,omitempty"`
	RunningMost  *float64 `json:"running_most,omitempty"`
	KVUsageMost  *float64 `json:"kv_usage_most,omitempty"` // of the memory for tokens, from 0 to 1
	// Preemptions is by how much the counter grew between the readings around the
	// rung's rounds, warm-ups of the rung at most included.
	Preemptions *float64 `json:"preemptions,omitempty"`
	AtCapShare  *float64 `json:"batch_at_cap_share,omitempty"` // the greatest: of the server's batches, in their fullest bucket
}

// readings sorts the rows of the server's metrics into looks at its page, so that
// their order in the files means nothing.
func readings(gauges []rows.Gauge) []reading {
	known := map[string]series{}
	none := reading{}
	for s := range allSeries {
		known[s.String()], none.values[s] = s, math.NaN()
	}
	gauges = slices.Clone(gauges)
	slices.SortFunc(gauges, func(a, b rows.Gauge) int {
		return cmp.Or(cmp.Compare(a.TS, b.TS), cmp.Compare(a.Series, b.Series), cmp.Compare(a.Value, b.Value))
	})
	var out []reading
	for _, g := range gauges {
		s, ok := known[g.Series]
		if !ok || finite(g.Value) == nil {
			continue
		}
		if n := len(out); n == 0 || out[n-1].ts != g.TS {
			out = append(out, none)
			out[n].ts = g.TS
		}
		out[len(out)-1].values[s] = g.Value
	}
	return out
}

// newMetrics says what was read.
func newMetrics(r *Run, all []reading) Metrics {
	out := Metrics{Readings: len(all)}
	if m := r.Manifest.Metrics; m != nil {
		out.IntervalS = m.IntervalS
	}
	for s := range allSeries {
		if slices.ContainsFunc(all, func(x reading) bool { _, ok := x.get(s); return ok }) {
			out.Series = append(out.Series, s.String())
		}
	}
	switch {
	case len(all) > 0:
	case r.Manifest.Metrics != nil && r.Manifest.Metrics.Lost != "":
		out.Reason = "the server's own metrics could not be read: " + r.Manifest.Metrics.Lost
	case len(r.Metrics) > 0:
		out.Reason = "the server's own metrics have none of the series that are known"
	default:
		out.Reason = "the server's own metrics were not read"
	}
	return out
}

// windows are the steady windows of attempts; of an open loop's, their planned time.
func (w *walked) windows(v visits, rung int) []record.Window {
	var out []record.Window
	for _, a := range v {
		window := a.rows.Round().SteadyWindow()
		if w.plan.Axis == plan.AxisRate {
			window = a.planned(w.plan.Rungs[rung].Duration.Seconds())
		}
		if window.Len() > 0 {
			out = append(out, window)
		}
	}
	return out
}

// looked are the rounds of a rung that its server and card are looked at in: those
// that count or, where none does, all that were measured.
func (w *walked) looked(rung int) visits {
	if v := w.rows[rung].counted(); len(v) > 0 {
		return v
	}
	return w.rows[rung].in(record.Measure)
}

// gauges sums up a rung's readings; nil where there are none.
func (w *walked) gauges(all []reading, rung int) *Gauges {
	if len(all) == 0 {
		return nil
	}
	v := w.looked(rung)
	var g Gauges
	var seen [allSeries][]float64
	for _, window := range w.windows(v, rung) {
		for _, x := range between(all, window.Begin, window.End) {
			g.Readings++
			for s := range allSeries {
				if value, ok := x.get(s); ok {
					seen[s] = append(seen[s], value)
				}
			}
		}
	}
	g.Preemptions = growth(all, v, seriesPreemptions)
	if g.Readings == 0 && g.Preemptions == nil {
		return nil
	}
	g.WaitingMean, g.WaitingMost = meanAndMost(seen[seriesWaiting])
	g.RunningMean, g.RunningMost = meanAndMost(seen[seriesRunning])
	_, g.KVUsageMost = meanAndMost(seen[seriesKVUsage])
	_, g.AtCapShare = meanAndMost(seen[seriesAtCap])
	if waiting := seen[seriesWaiting]; len(waiting) > 0 {
		n := 0
		for _, x := range waiting {
			if x > 0 {
				n++
			}
		}
		g.WaitingShare = new(float64(n) / float64(len(waiting)))
	}
	return &g
}

// between are the readings in a span of time.
func between(all []reading, from, to float64) []reading {
	i, _ := slices.BinarySearchFunc(all, from, func(x reading, t float64) int { return cmp.Compare(x.ts, t) })
	j := i
	for j < len(all) && all[j].ts <= to {
		j++
	}
	return all[i:j]
}

func meanAndMost(values []float64) (mid, most *float64) {
	if len(values) == 0 {
		return nil, nil
	}
	return finite(mean(slices.Sorted(slices.Values(values)))), new(slices.Max(values))
}

// growth adds up by how much a counter grew around the rounds of each pass: from the
// last reading before the first send to the first after the last end. A server that was
// started again counts from 0. nil where no pass has two readings.
func growth(all []reading, v visits, s series) *float64 {
	var out *float64
	for begin := 0; begin < len(v); {
		end := begin + 1
		for end < len(v) && v[end].Pass == v[begin].Pass {
			end++
		}
		if g := grew(all, v[begin:end].span(), s); g != nil {
			out = new(*g + valueOr(out))
		}
		begin = end
	}
	return out
}

func valueOr(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

// span is from the first send of attempts to their last end.
func (v visits) span() record.Window {
	var out record.Window
	first := true
	for _, a := range v {
		for _, t := range a.rows.Round().Times {
			switch {
			case !t.Sent():
			case first:
				out, first = record.Window{Begin: t.SentTS, End: t.DoneTS}, false
			default:
				out.Begin, out.End = min(out.Begin, t.SentTS), max(out.End, t.DoneTS)
			}
		}
	}
	return out
}

// grew is by how much a counter grew around a span.
func grew(all []reading, span record.Window, s series) *float64 {
	var before, sum float64
	seen := 0
	i, _ := slices.BinarySearchFunc(all, span.Begin, func(x reading, t float64) int { return cmp.Compare(x.ts, t) })
	for ; i > 0; i-- { // back to the last before that tells it
		if _, ok := all[i-1].get(s); ok {
			i--
			break
		}
	}
	for _, x := range all[i:] {
		value, ok := x.get(s)
		switch {
		case !ok:
			continue
		case x.ts <= span.Begin:
			before, seen = value, 1
			continue
		case seen == 0:
		case value >= before:
			sum += value - before
		default: // it was started again
			sum += value
		}
		before, seen = value, seen+1
		if x.ts >= span.End {
			break
		}
	}
	if seen < 2 {
		return nil
	}
	return &sum
}
