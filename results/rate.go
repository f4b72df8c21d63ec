package results

import (
	"cmp"
	"fmt"
	"math"

	"rung/sinks/record"
	"rung/spec/plan"
)

// OpenLoop is what came due at a rung of a rate ladder, and what became of it.
type OpenLoop struct {
	Arrivals int `json:"arrivals"` // due in the rounds that count
	// Few says that one arrival is more than the share by which saturation is told.
	Few         bool     `json:"few"`
	OfferedPerS float64  `json:"offered_per_s"`  // arrivals over the rounds' planned duration
	DonePerS    float64  `json:"achieved_per_s"` // successes that ended within it, over it
	Ratio       float64  `json:"achieved_over_offered"`
	Dropped     int      `json:"dropped"`          // due, and never sent: no place in flight
	LateP95S    *float64 `json:"late_p95_s"`       // of the sends, behind when they were due
	Growth      *float64 `json:"in_flight_growth"` // over the window, over its mean
	Saturated   bool     `json:"saturated"`        // neither the ratio nor the growth holds
	Why         string   `json:"saturated_by"`     // in words, where it is
}

// What a rate that a server bears holds to: as many answers as requests in the
// same time, or a number in flight that does not grow.
const (
	leastRatio = 0.98
	mostGrowth = 0.5
)

// planned is the window of an open loop's round: all of its planned time, whatever
// was sent when.
func (a attempt) planned(length float64) record.Window {
	begin := a.begin
	if math.IsNaN(begin) {
		for _, t := range a.rows.Round().Times {
			if math.IsNaN(begin) || t.DueTS < begin {
				begin = t.DueTS
			}
		}
	}
	return record.Window{Begin: begin, End: begin + length}
}

// openFlow adds up the planned windows of an open loop's attempts.
func (v visits) openFlow(of worths, length float64) flow {
	var f record.Flow
	for _, a := range v {
		f.AddWithin(a.rows.Round(), a.planned(length), of(a))
	}
	return flow(f)
}

// flow is the work of attempts at a rung, over the windows that its axis has.
func (w *walked) flow(v visits, rung int, of worths) flow {
	if w.plan.Axis == plan.AxisRate {
		return v.openFlow(of, w.plan.Rungs[rung].Duration.Seconds())
	}
	return v.flow(of)
}

// openLoop sums up what came due in the attempts that count; nil where none does.
func (v visits) openLoop(length float64) *OpenLoop {
	if length <= 0 || len(v) == 0 {
		return nil
	}
	var o OpenLoop
	var late, growth []float64
	for _, a := range v {
		for r := range a.rows.All() {
			switch {
			case r.ResetIdle || r.Outcome == record.Cancelled:
				continue
			case !r.Sent():
				o.Dropped++
			default:
				late = append(late, r.SentTS-r.DueTS)
			}
			o.Arrivals++
		}
		if g := grows(a.rows.Round(), a.planned(length)); g != nil {
			growth = append(growth, *g)
		}
	}
	if o.Arrivals == 0 {
		return nil
	}
	span := length * float64(len(v))
	o.OfferedPerS = float64(o.Arrivals) / span
	if done := v.openFlow(requests().each, length).rate(); done != nil {
		o.DonePerS = *done
	}
	o.Ratio = o.DonePerS / o.OfferedPerS
	o.Few = float64(o.Arrivals)*(1-leastRatio) < 1
	if len(late) > 0 {
		o.LateP95S = finite(record.QuantileOf(late, 0.95))
	}
	if len(growth) > 0 {
		o.Growth = finite(mean(growth))
	}
	o.judge()
	return &o
}

// grows is by how much the number in flight rises over a window, over its mean: from
// the means of the first and the last third, which lie two thirds apart. nil where
// nothing was in flight.
func grows(r record.Round, w record.Window) *float64 {
	third := w.Len() / 3
	all := r.MeanInFlight(w)
	if all <= 0 {
		return nil
	}
	first := r.MeanInFlight(record.Window{Begin: w.Begin, End: w.Begin + third})
	last := r.MeanInFlight(record.Window{Begin: w.End - third, End: w.End})
	return finite(1.5 * (last - first) / all)
}

// judge says whether the rate is more than the server bears. Where requests were
// dropped, those in flight are as many as may be and can't grow: that they don't
// says nothing.
func (o *OpenLoop) judge() {
	steady := o.Growth != nil && *o.Growth <= mostGrowth && o.Dropped == 0
	if o.Ratio >= leastRatio || steady {
		return
	}
	o.Saturated = true
	o.Why = fmt.Sprintf("%s of what was due was answered in its time", percent(o.Ratio))
	switch {
	case o.Dropped > 0:
		o.Why += fmt.Sprintf(", and %s dropped: as many were in flight as may be", count(o.Dropped, "request was", "requests were"))
	case o.Growth != nil:
		o.Why += fmt.Sprintf(", and the requests in flight grew by %.1f times their mean", *o.Growth)
	}
}

// Capacity is the last rate that a server bears.
type Capacity struct {
	Value   *float64 `json:"value,omitempty"` // requests a second
	AtLeast bool     `json:"at_least"`        // no rate saturated the server
	Beyond  *float64 `json:"saturated_at,omitempty"`
	Reason  string   `json:"reason"`
	Below   []Below  `json:"p95_below"` // the latency at shares of the capacity
}

// Below is the P95 at a share of the capacity, between the two rates around it.
type Below struct {
	Share     float64  `json:"share"`
	Rate      float64  `json:"rate"`
	P95S      *float64 `json:"p95_s,omitempty"`
	Supported bool     `json:"p95_supported"` // that of both rates is
	Reason    string   `json:"reason,omitempty"`
}

// findCapacity looks for the last rate below the first that saturates, or fails.
func (w *walked) findCapacity() {
	if w.plan.Axis != plan.AxisRate {
		return
	}
	c := &Capacity{Below: []Below{}}
	w.out.Capacity = c
	if w.out.NotRising != "" {
		c.Reason = "the rates do not rise (" + w.out.NotRising + "), so none is the last that holds"
		return
	}
	var last *Rung
	for i := range w.out.Rungs {
		r := &w.out.Rungs[i]
		if r.Index >= w.edge {
			break
		}
		if r.Open == nil || r.Latency == nil {
			continue
		}
		if r.Open.Saturated {
			c.Beyond, c.Reason = &r.Value, fmt.Sprintf("%g saturates the server: %s", r.Value, r.Open.Why)
			break
		}
		last = r
	}
	if c.Beyond == nil && w.out.Edge != nil {
		c.Reason = fmt.Sprintf("%g is the edge: %s", w.out.Edge.Value, w.out.Edge.Reason)
	}
	if last == nil {
		c.Reason = cmp.Or(c.Reason, "no rate has a request that counts")
		return
	}
	c.Value = &last.Value
	if c.Beyond == nil && w.out.Edge == nil {
		c.AtLeast, c.Reason = true, "no rate saturated the server: extend the ladder upward"
	}
	for _, share := range []float64{0.70, 0.85} {
		c.Below = append(c.Below, w.below(share, last))
	}
}

// below interpolates P95 at a share of a rate between the two measured rates around
// it. Below the lowest nothing is known.
func (w *walked) below(share float64, last *Rung) Below {
	b := Below{Share: share, Rate: share * last.Value}
	var under *Rung
	for i := range w.out.Rungs {
		r := &w.out.Rungs[i]
		if r.Latency == nil || r.Value > last.Value {
			continue
		}
		if r.Value < b.Rate {
			under = r
			continue
		}
		if r.Value == b.Rate {
			under = r
		}
		if under == nil {
			break
		}
		part := 0.0
		if r.Value > under.Value {
			part = (b.Rate - under.Value) / (r.Value - under.Value)
		}
		b.P95S = finite(under.Latency.P95S + part*(r.Latency.P95S-under.Latency.P95S))
		b.Supported = under.Latency.P95Supported && r.Latency.P95Supported
		return b
	}
	b.Reason = "not measured: it lies below the lowest rate, and nothing is extrapolated"
	return b
}
