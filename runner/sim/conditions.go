package sim

import (
	"time"

	"rung/spec/plan"
)

// conditions are what changes a card's speed with the time since the start.
type conditions struct {
	p     plan.Simulator
	start time.Time
}

// within says whether a moment lies in a window; one without a length has no end.
func within(since, at, length time.Duration) bool {
	return since >= at && (length <= 0 || since < at+length)
}

// throttled says whether the card is too hot now.
func (c conditions) throttled(now time.Time) bool {
	return c.p.ThrottleShare > 0 && within(now.Sub(c.start), c.p.ThrottleAt.D(), c.p.ThrottleFor.D())
}

// clock is the share of the full clock that the card runs at.
func (c conditions) clock(now time.Time) float64 {
	if c.throttled(now) {
		return 1 - c.p.ThrottleShare
	}
	return 1
}

// slower is the factor by which work takes longer than on a card that is cool and
// alone.
func (c conditions) slower(now time.Time) float64 {
	f := 1 / c.clock(now)
	for _, other := range c.others(now) {
		f *= max(other.Factor, 1)
	}
	return f
}

// foreign is the memory that other processes hold.
func (c conditions) foreign(now time.Time) int64 {
	var n int64
	for _, other := range c.others(now) {
		n += other.Memory
	}
	return n
}

// others are the other loads on the card now.
func (c conditions) others(now time.Time) []plan.Fault {
	var out []plan.Fault
	for _, f := range c.p.Faults {
		if f.Kind == plan.FaultInterference && within(now.Sub(c.start), f.At.D(), f.For.D()) {
			out = append(out, f)
		}
	}
	return out
}
