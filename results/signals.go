package results

import (
	"fmt"
	"math"
	"strings"

	"rung/spec/plan"
)

// Thresholds of the signals.
const (
	leastInFlight = 0.95 // of the requests asked in flight
	mostLate      = 0.05 // P95 of the sends' lateness, of the median latency
	mostCPU       = 85.0 // per cent of the processor time that the client may have
	slowClock     = 0.95 // a pass' SM clock, of the median over the passes
	mostWaiting   = 0.5  // share of the readings in which requests wait; below it the queue is about empty
	flat          = 0.10 // two figures are alike within this
	fullPool      = 0.95 // of the pool's tokens
	ceiling       = 0.98 // of the card's memory
	utilDrop      = 10.0 // points of utilisation
	lostRate      = 0.05 // throughput below that of the rung below
	pinned        = 95.0 // per cent of utilisation
	hotPower      = 0.85 // of the limit
	coolPower     = 0.75
	idleShare     = 0.10 // of the samples, with a utilisation of 0
	leastFalls    = 3    // to a utilisation of 0, within rounds
	starvedUtil   = 75.0
	linear        = 0.8 // elasticity of the latency to the load from which it grows with it
	climbs        = 0.5
)

// list collects signals.
type list []string

func (l *list) add(when bool, format string, args ...any) {
	if when {
		*l = append(*l, fmt.Sprintf(format, args...))
	}
}

// client are the signs that the client bound the rung.
func (f facts) client() []string {
	var out list
	s := f.r.Client
	if s.InFlight != nil && f.r.Open == nil {
		out.add(*s.InFlight < leastInFlight*float64(f.r.Shape.InFlight), "%.2f requests in flight of %d asked", *s.InFlight, f.r.Shape.InFlight)
	}
	if s.LateShare != nil {
		out.add(*s.LateShare > mostLate && *s.LateP95S > leastLate, "P95 of the sends late by %s of the median latency", percent(*s.LateShare))
	}
	if s.CPUPct != nil {
		out.add(*s.CPUPct > mostCPU, "the client took %.0f %% of its processor time", *s.CPUPct)
	}
	n := f.r.refusedBy("client_limited")
	out.add(n > 0 && f.r.LostRounds > 0, "%s refused as client_limited", count(n, "round was", "rounds were"))
	return out
}

// refusedBy counts the attempts that were refused for a reason.
func (r *Rung) refusedBy(reason string) int {
	n := 0
	for _, x := range r.Refused {
		if strings.HasPrefix(x.Reason, reason) {
			n += x.Attempts
		}
	}
	return n
}

func (f facts) throttling() []string {
	var out list
	if c := f.r.Card; c != nil {
		out.add(c.Slowed > 0, "a slowdown was the card's throttle reason in %d of %s (bits %#x)", c.Slowed, count(c.Samples, "sample", "samples"), c.Reasons)
		if c.ClockLeast != nil {
			out.add(*c.ClockLeast < slowClock, "the SM clock of a pass was %s of the median over the passes", percent(*c.ClockLeast))
		}
	}
	n := f.r.refusedBy("throttled")
	out.add(n > 0 && f.r.LostRounds > 0, "%s refused as throttled", count(n, "round was", "rounds were"))
	return out
}

// waits is the share of the readings in which requests waited; nil where the server
// does not say. Of one request at a time none can.
func (f facts) waits() *float64 {
	if f.r.Shape.InFlight <= 1 && f.r.Open == nil {
		return new(0.0)
	}
	if g := f.r.Gauges; g != nil {
		return g.WaitingShare
	}
	return nil
}

func (f facts) queueing() []string {
	var out list
	g, b := f.r.Gauges, f.below
	if g != nil && g.WaitingShare != nil {
		out.add(*g.WaitingShare > mostWaiting, "requests waited in %s of %s, %.3g on average", percent(*g.WaitingShare), count(g.Readings, "reading", "readings"), *g.WaitingMean)
	}
	if b == nil || f.growth <= 1+flat {
		return out
	}
	if g != nil && b.Gauges != nil && g.RunningMean != nil && b.Gauges.RunningMean != nil {
		out.add(alikeTo(*g.RunningMean, *b.Gauges.RunningMean), "%.3g requests ran at once, and %.3g at %g", *g.RunningMean, *b.Gauges.RunningMean, b.Value)
	}
	if ttft, tpot := streamRatios(f.r, b); ttft != nil && tpot != nil {
		out.add(*ttft > 1+flat && alikeTo(*tpot, 1), "the median TTFT is %.2g times that at %g, and TPOT %.2f times", *ttft, b.Value, *tpot)
	}
	if e := f.elasticity(); f.w.plan.Axis == plan.AxisConcurrency && f.flatMemory() {
		out.add(e >= linear, "memory stood still while the latency grew with the concurrency (elasticity %.2f)", e)
	}
	return out
}

// notQueueing rules a queue out that is known to be empty, and one behind a full pool.
func (f facts) notQueueing() string {
	switch w := f.waits(); {
	case w != nil && *w <= mostWaiting:
		return "the queue is about empty"
	case f.poolFull():
		return "the pool is full"
	default:
		return ""
	}
}

func (f facts) poolFull() bool {
	g := f.r.Gauges
	return g != nil && g.KVUsageMost != nil && *g.KVUsageMost >= fullPool
}

func (f facts) preempted() bool {
	g := f.r.Gauges
	return g != nil && g.Preemptions != nil && *g.Preemptions > 0
}

// full says that memory itself speaks: the pool is full, sequences were pushed out of
// it, or the card is.
func (f facts) full() bool { return f.poolFull() || f.preempted() || f.spilled() }

// spilled says that the card's memory is about full while its utilisation drops.
func (f facts) spilled() bool {
	r, b := f.r, f.below
	if f.m.upFront || r.Memory == nil || f.m.total == nil || *f.m.total <= 0 || b == nil || r.Card == nil || b.Card == nil || r.Card.UtilMean == nil || b.Card.UtilMean == nil {
		return false
	}
	return float64(r.Memory.PeakBytes) >= ceiling*float64(*f.m.total) && *r.Card.UtilMean < *b.Card.UtilMean-utilDrop
}

func (f facts) paging() []string {
	var out list
	if f.preempted() {
		out.add(true, "%.0f preemptions", *f.r.Gauges.Preemptions)
	}
	if f.poolFull() {
		out.add(true, "%s of the pool for tokens in use", percent(*f.r.Gauges.KVUsageMost))
	}
	if w := f.waits(); w != nil && (f.poolFull() || f.preempted()) {
		out.add(*w > mostWaiting, "requests waited for memory, in %s of the readings", percent(*w))
	}
	if f.spilled() {
		out.add(true, "the card's memory is full and its utilisation fell from %.0f to %.0f %%", *f.below.Card.UtilMean, *f.r.Card.UtilMean)
	}
	if b := f.below; f.full() && b != nil && b.Throughput != nil && f.r.Throughput != nil {
		out.add(*f.r.Throughput < (1-lostRate)**b.Throughput, "throughput is %s of that at %g", percent(*f.r.Throughput / *b.Throughput), b.Value)
	}
	return out
}

// elasticity is by which power the median latency grew with the load from the rung
// below: 1 is in proportion. 0 where it is not known.
func (f facts) elasticity() float64 {
	if f.below == nil || f.r.Latency == nil || f.growth <= 1 || f.below.Latency.MedianS <= 0 || f.r.Latency.MedianS <= 0 {
		return 0
	}
	return math.Log(f.r.Latency.MedianS/f.below.Latency.MedianS) / math.Log(f.growth)
}

// flatMemory says that the peak did not move from the rung below, in a walk that could
// have shown it.
func (f facts) flatMemory() bool {
	r, b := f.r.Memory, f.below.Memory
	if r == nil || b == nil || r.AfterHighWater || b.AfterHighWater || f.m.total == nil || *f.m.total <= 0 || f.m.upFront {
		return false
	}
	return math.Abs(float64(r.PeakBytes-b.PeakBytes)) < still*float64(*f.m.total)
}

// alikeTo says that two figures are within a tenth of each other.
func alikeTo(x, y float64) bool { return y > 0 && math.Abs(x/y-1) <= flat }

// streamRatios hold the medians of TTFT and TPOT against those of the rung below; nil
// where either has none.
func streamRatios(r, below *Rung) (ttft, tpot *float64) {
	if r.Stream == nil || below.Stream == nil {
		return nil, nil
	}
	over := func(a, b *Latency) *float64 {
		if a == nil || b == nil || b.MedianS <= 0 {
			return nil
		}
		return finite(a.MedianS / b.MedianS)
	}
	return over(r.Stream.TTFT, below.Stream.TTFT), over(r.Stream.TPOT, below.Stream.TPOT)
}
