package results

import (
	"fmt"
	"math"
	"strings"

	"rung/spec/plan"
)

// room does the sum of headroom for one run:
//
//	available = total - reserved - safety·total - max(peak at the limits) - reserve
//
// reserve is the memory between the limit and the rung above it, times the
// declared number of rungs.
type room struct {
	total, reserved, safety float64
	rungs                   int
}

// headroom fills in what stays free at the limits, after it has lowered a limit
// at which that would be less than nothing.
func (m *memory) headroom(h plan.Headroom, ladders []*walked, page []reading) Headroom {
	out := Headroom{}
	bad := unsoundHeadroom(h)
	switch {
	case pooled(ladders):
		if out.Pool = pool(ladders, page); out.Pool == nil {
			out.Reason = "headroom unknown: the server took its memory up front, and no reading of its pool fell into a rung at a limit"
			return out
		}
		if m.reason == "" {
			out.ReservedBytes = m.reserved()
		}
		out.Reason = "the server took its memory up front, so the card's memory in use says nothing of the load; by its own gauge"
	case m.reason != "":
		out.Reason = m.reason
	case bad != "":
		out.Reason = "headroom unknown: the rule is none, " + bad
	case m.total == nil || *m.total <= 0:
		out.Reason = "headroom unknown: the driver gives no total memory"
	case m.upFront:
		out.Reason = "headroom unknown: the server took its memory up front, so what is in use says nothing of the load; its own gauges would, and none was read"
	case m.follows(ladders):
		out.Reason = fmt.Sprintf("headroom unknown: memory moved by less than %g %% of the card under all load, and no pool of the server is known", 100*still)
	}
	if out.Reason != "" {
		return out
	}
	total := float64(*m.total)
	rm := room{total: total, reserved: float64(m.reserved()), safety: h.Safety * total, rungs: h.ReserveRungs}
	out.ReservedBytes, out.SafetyBytes = int64(rm.reserved), int64(rm.safety)
	bearing := bearing(ladders)
	for _, w := range bearing {
		m.lower(w, rm)
	}
	m.sum(&out, rm, bearing)
	return out
}

// bearing are the ladders whose limits headroom is about: those of load or, where
// there are none, all.
func bearing(ladders []*walked) []*walked {
	var out []*walked
	for _, w := range ladders {
		if loads(w.plan.Axis) {
			out = append(out, w)
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, w := range ladders {
		if w.plan.Axis != plan.AxisRate {
			out = append(out, w)
		}
	}
	return out
}

// follows says that memory stood still whatever was sent.
func (m *memory) follows(ladders []*walked) bool {
	low, high := m.reach(ladders)
	return float64(high-low) < still*float64(*m.total)
}

// reserved is what the driver keeps and what is in use does not include.
func (m *memory) reserved() int64 {
	s := m.samples[0]
	if s.MemReservedBytes == nil || s.MemCall == "v1" {
		return 0
	}
	return *s.MemReservedBytes
}

// need is the peak at a rung and the reserve above it, in bytes; ok is false where
// either is not known.
func (m *memory) need(w *walked, r *Rung, rm room) (peak, reserve float64, extrapolated, ok bool) {
	if r.Memory == nil || r.Memory.AfterHighWater {
		return 0, 0, false, false
	}
	peak = float64(r.Memory.PeakBytes)
	step, extrapolated, ok := m.step(w, r)
	return peak, math.Max(0, step) * float64(rm.rungs), extrapolated, ok
}

// step is the memory between a rung and the one above. Where that failed, was not
// walked or does not exist, it is extrapolated along the slope below.
func (m *memory) step(w *walked, r *Rung) (bytes float64, extrapolated, ok bool) {
	peak := float64(r.Memory.PeakBytes)
	var below, above *Rung
	for i := range w.out.Rungs {
		q := &w.out.Rungs[i]
		switch {
		case q.Index < r.Index && q.Memory != nil && !q.Memory.AfterHighWater:
			below = q
		case q.Index == r.Index+1 && q.Index < w.edge && q.Memory != nil:
			above = q
		}
	}
	if above != nil {
		return float64(above.Memory.PeakBytes) - peak, false, true
	}
	var slope, next float64
	switch {
	case below != nil:
		slope = (peak - float64(below.Memory.PeakBytes)) / (r.Value - below.Value)
		next = r.Value * r.Value / below.Value
	case m.idle != nil:
		slope = (peak - float64(*m.idle)) / r.Value
		next = 2 * r.Value
	default:
		return 0, false, false
	}
	if r.Index+1 < len(w.plan.Rungs) {
		next = w.plan.Rungs[r.Index+1].Value
	}
	return slope * (next - r.Value), true, true
}

// lower takes a ladder's limit down to the highest rung that leaves something.
func (m *memory) lower(w *walked, rm room) {
	limit := &w.out.Limit
	at := w.out.at(limit.Value)
	if at == nil {
		return
	}
	for i := len(w.out.Rungs) - 1; i >= 0; i-- {
		r := &w.out.Rungs[i]
		if r.Index > at.Index {
			continue
		}
		peak, reserve, _, ok := m.need(w, r, rm)
		if !ok {
			return // what is not known lowers nothing
		}
		if rm.total-rm.reserved-rm.safety-peak-reserve >= 0 {
			if r.Index < at.Index {
				was := *limit.Value
				limit.Value, limit.Bound = &r.Value, BoundMemory
				limit.Reason = fmt.Sprintf("the highest rung that leaves the declared reserve of memory; without it, it would be %g", was)
			}
			return
		}
	}
	*limit = Limit{Bound: BoundMemory, Reason: "no rung leaves the declared reserve of memory"}
}

// sum adds up what the ladders need at their limits.
func (m *memory) sum(out *Headroom, rm room, ladders []*walked) {
	found := false
	for _, w := range ladders {
		r := w.out.at(w.out.Limit.Value)
		if r == nil {
			out.NotMeasured = append(out.NotMeasured, fmt.Sprintf("%s, since ladder %q has no limit", w.plan.Axis, w.plan.Name))
			continue
		}
		peak, reserve, extrapolated, ok := m.need(w, r, rm)
		if !ok {
			out.NotMeasured = append(out.NotMeasured, fmt.Sprintf("peak at %s: %s", shown(w, r), m.whyNot(r)))
			continue
		}
		if !found || int64(peak) > out.PeakBytes {
			out.PeakBytes, out.PeakAt = int64(peak), shown(w, r)+" ("+w.out.fixed()+")"
		}
		if int64(reserve) >= out.ReserveBytes {
			out.ReserveBytes, out.Extrapolated = int64(reserve), extrapolated
		}
		found = true
	}
	if !found {
		out.Reason = "headroom unknown: no peak was measured at a limit"
		if len(out.NotMeasured) > 0 {
			out.Reason += " (" + strings.Join(out.NotMeasured, "; ") + ")"
		}
		return
	}
	var without []string
	for _, axis := range []plan.Axis{plan.AxisBatch, plan.AxisConcurrency} {
		if !hasAxis(ladders, axis) {
			without = append(without, string(axis))
		}
	}
	if len(without) > 0 {
		out.NoLadder = "no " + strings.Join(without, " or ") + " ladder"
	}
	out.AvailableBytes = new(int64(rm.total - rm.reserved - rm.safety - float64(out.PeakBytes+out.ReserveBytes)))
}

func (m *memory) whyNot(r *Rung) string {
	if r.Memory == nil {
		return r.MemoryReason
	}
	if r.Memory.AfterHighWater {
		return "after high water, earlier load had taken as much already"
	}
	return "nothing to extrapolate the reserve from"
}

func hasAxis(ladders []*walked, axis plan.Axis) bool {
	for _, w := range ladders {
		if w.plan.Axis == axis {
			return true
		}
	}
	return false
}
