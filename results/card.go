package results

import (
	"cmp"
	"slices"

	"rung/sinks/record"
)

// slowdowns are the throttle reasons, as NVML's bits, that make a card slower than it
// is: by the hardware, by heat, by the power supply. A power cap is a condition.
const slowdowns = 0x8 | 0x20 | 0x40 | 0x80

// Card is what the device that the memory is told of showed in the steady windows of a
// rung's rounds, over all passes. What it does not tell is nil.
type Card struct {
	Samples   int      `json:"samples"`
	UtilMean  *float64 `json:"util_mean_pct,omitempty"` // some kernel ran in so much of the time
	IdleShare *float64 `json:"idle_share,omitempty"`    // of the samples, with a utilisation of 0
	Falls     int      `json:"falls_to_idle"`           // how often it fell to 0 within a round
	PowerMean *float64 `json:"power_mean_w,omitempty"`
	PowerOf   *float64 `json:"power_of_limit,omitempty"` // the mean over the card's limit
	ClockMHz  *float64 `json:"sm_clock_mhz,omitempty"`   // median
	// ClockLeast is the least of the passes' median clocks over the median of them; nil
	// below two passes.
	ClockLeast *float64 `json:"sm_clock_least_pass,omitempty"`
	Slowed     int      `json:"slowed_samples"` // with a slowdown or a thermal reason
	Reasons    int64    `json:"slowdown_bits,omitempty"`
}

// compareSamples puts samples in an order that no order in the files changes.
func compareSamples(a, b *record.Sample) int {
	return cmp.Or(cmp.Compare(a.TS, b.TS), cmp.Compare(valueOr(a.UtilGPUPct), valueOr(b.UtilGPUPct)),
		cmp.Compare(valueOr(a.PowerW), valueOr(b.PowerW)), cmp.Compare(valueOr(a.SMClockMHz), valueOr(b.SMClockMHz)))
}

// watched is what was sampled of the device that the memory is told of, in order of time.
type watched struct {
	samples  []*record.Sample
	interval float64  // seconds between two samples
	limit    *float64 // of the power, W
	noUtil   bool     // its utilisation is 0 whatever it does
}

// newWatched takes the samples of one device. A utilisation that is 0 in all samples
// under load is none: the card does not tell (MIG).
func newWatched(r *Run, device int) watched {
	out := watched{interval: r.Manifest.GPU.IntervalS, noUtil: true}
	for i := range r.Samples {
		if s := &r.Samples[i]; s.Device == device {
			out.samples = append(out.samples, s)
			out.noUtil = out.noUtil && (s.UtilGPUPct == nil || *s.UtilGPUPct == 0)
		}
	}
	slices.SortFunc(out.samples, compareSamples)
	for _, g := range r.Manifest.GPUs {
		if g.Index == device {
			out.limit = g.PowerLimitW
		}
	}
	return out
}

// during are the samples that tell of a window alone: what a card does is told of the
// time since the sample before.
func (c watched) during(w record.Window) []*record.Sample {
	i, _ := slices.BinarySearchFunc(c.samples, w.Begin+c.interval, func(s *record.Sample, t float64) int { return cmp.Compare(s.TS, t) })
	j := i
	for j < len(c.samples) && c.samples[j].TS <= w.End {
		j++
	}
	return c.samples[i:j]
}

// tally adds up samples.
type tally struct {
	util, power, clock []float64
	idle               int
}

// joined puts windows together that follow each other with no pause longer than given:
// rounds of a single request each are too short for a sample of their own, and a pause
// so short is in none.
func joined(windows []record.Window, pause float64) []record.Window {
	var out []record.Window
	for _, w := range windows {
		if n := len(out); n > 0 && w.Begin >= out[n-1].Begin && w.Begin-out[n-1].End <= pause {
			out[n-1].End = max(out[n-1].End, w.End)
			continue
		}
		out = append(out, w)
	}
	return out
}

// card sums up a rung's samples; nil where there are none.
func (w *walked) card(c watched, rung int) *Card {
	var out Card
	var all tally
	var clocks []float64 // medians of the passes
	v := w.looked(rung)
	for _, p := range w.plan.Passes {
		var pass tally
		for _, window := range joined(w.windows(v.pass(p.Index), rung), c.interval/10) {
			pass.add(&out, c.during(window), c.noUtil)
		}
		if len(pass.clock) > 0 {
			clocks = append(clocks, median(pass.clock))
		}
		all.util, all.power, all.clock = append(all.util, pass.util...), append(all.power, pass.power...), append(all.clock, pass.clock...)
		all.idle += pass.idle
	}
	if out.Samples == 0 {
		return nil
	}
	if n := len(all.util); n > 0 {
		out.UtilMean, out.IdleShare = finite(mean(all.util)), finite(float64(all.idle)/float64(n))
	}
	if len(all.power) > 0 {
		out.PowerMean = finite(mean(all.power))
		if c.limit != nil && *c.limit > 0 {
			out.PowerOf = finite(mean(all.power) / *c.limit)
		}
	}
	if len(all.clock) > 0 {
		out.ClockMHz = finite(median(all.clock))
	}
	if len(clocks) > 1 {
		out.ClockLeast = finite(slices.Min(clocks) / median(clocks))
	}
	return &out
}

// add takes the samples of one window.
func (t *tally) add(out *Card, samples []*record.Sample, noUtil bool) {
	busy := false
	for _, s := range samples {
		out.Samples++
		if s.UtilGPUPct != nil && !noUtil {
			t.util = append(t.util, *s.UtilGPUPct)
			if *s.UtilGPUPct <= 0 {
				t.idle++
				if busy {
					out.Falls++
				}
			}
			busy = *s.UtilGPUPct > 0
		}
		if s.PowerW != nil {
			t.power = append(t.power, *s.PowerW)
		}
		if s.SMClockMHz != nil {
			t.clock = append(t.clock, *s.SMClockMHz)
		}
		if s.ThrottleReasons != nil && *s.ThrottleReasons&slowdowns != 0 {
			out.Slowed++
			out.Reasons |= *s.ThrottleReasons & slowdowns
		}
	}
}
