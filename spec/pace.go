package spec

import (
	"time"

	"rung/spec/plan"
)

// rungs reads the values of a ladder: whole numbers, and for a rate any. Where the
// axis is wrong nobody knows, so that any will do.
func (f *fields) rungs(axis plan.Axis) []float64 {
	if axis == plan.AxisRate || axis == "" {
		return f.reals("rungs", maxRungs, minRate, maxRung)
	}
	counts := f.counts("rungs", maxRungs, maxRung)
	if counts == nil {
		return nil
	}
	out := make([]float64, len(counts))
	for i, n := range counts {
		out[i] = float64(n)
	}
	return out
}

// rounds decodes how much is sent at a rung, and how often.
func (l *loader) rounds(f *fields, d *ladder) {
	d.passes = f.count("passes", 0, 1, maxPasses)
	d.once = d.passes == 1 || !f.given("passes")
	d.passes = max(1, d.passes)
	d.rounds = f.count("rounds", 0, 1, maxCount)
	d.requests = f.count("requests", 0, 1, maxCount)
	d.duration = f.duration("duration", 0, 10*time.Millisecond, 24*time.Hour)
	d.warmup = f.count("warmup", -1, 0, maxCount)
	d.Reruns = f.count("reruns", 3, 0, 1_000)
	if d.Axis != plan.AxisRate {
		f.excludes("duration", "requests", "is the length of a round, and requests is another. Use one of them.")
	}
}

// openLoop decodes what a ladder of rate has of its own: requests come when they are
// due, however many are in flight.
func (l *loader) openLoop(f *fields, d *ladder) {
	arrivals := f.choice("arrivals", "poisson", []string{"poisson", "constant"})
	most := f.count("max_in_flight", 1_000, 1, maxRung)
	switch d.Axis {
	case "":
	case plan.AxisRate:
		f.refuse(sumNotOnAxis, "is for a closed loop. Along rate a round lasts for its duration, and max_in_flight bounds what is in flight.", "requests", "concurrency")
		d.Arrivals, d.fixed, d.requests = arrivals, most, 0
		if d.duration == 0 {
			d.duration = time.Minute
		}
	default:
		f.refuse(sumNotOnAxis, "is for a ladder of rate. In a closed loop a request is sent when another is done.", "arrivals", "max_in_flight")
	}
}

// pause decodes what lies between two rungs: a fixed time, or a wait until the card
// is as it was.
func (l *loader) pause(f *fields, d *ladder) {
	d.Cooldown = plan.Duration(f.duration("cooldown", 3*time.Second, 0, 24*time.Hour))
	f.excludes("settle", "cooldown", "waits until the card is as it was, and cooldown for a fixed time. Use one of them.")
	if f.blocks["settle"] == nil {
		return
	}
	s := f.sub(settleSchema())
	d.Cooldown, d.Settle = 0, &plan.Settle{
		Timeout:     plan.Duration(s.duration("timeout", time.Minute, time.Second, 24*time.Hour)),
		Memory:      s.real("memory", 0.01, 0, 1),
		Temperature: s.real("temperature", 3, 0, 100),
		Clock:       s.real("clock", 0.05, 0, 1),
	}
}
