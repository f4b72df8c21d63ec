// Package foreign fits samples of a card that were recorded elsewhere into a run: by
// the load, which both show, it finds how far two clocks are apart, and by the run's
// events where in the plan a sample belongs.
package foreign

import (
	"errors"
	"fmt"
	"math"
	"time"

	"rung/sinks/record"
)

const (
	step = 0.1 // of the grid on which both are laid, seconds
	// mostWork bounds the points of one times those of the other: some seconds of work.
	mostWork = 4e9
	// leastPeak is the correlation below which nothing is found.
	leastPeak = 0.5
	// mostRival is how high, as a share of the peak, another place may fit.
	mostRival = 0.85
	// leastCovered is the share of the run's load that the samples must cover.
	leastCovered = 0.5
)

// Fit is by how much the samples' clock is behind the run's.
type Fit struct {
	OffsetS      float64 // to be added to the samples' times
	UncertaintyS float64 // either way: half the width of the peak at half of its height
	Correlation  float64 // at the peak
	By           string  // the column that rose and fell
}

// ErrNoFit says that the offset can't be found by the load.
var ErrNoFit = errors.New("the load does not tell how far the clocks are apart; give --offset")

// Align finds the offset at which the card was busy when requests were in flight. The
// samples are in order of time; began is the run's begin.
func Align(samples []record.Sample, requests []record.Request, began time.Time) (Fit, error) {
	load := busy(requests)
	first := samples[0].Time.Sub(began).Seconds()
	span := samples[len(samples)-1].Time.Sub(samples[0].Time).Seconds()
	if work := span / step * float64(len(load)); work > mostWork {
		return Fit{}, fmt.Errorf("%w, or cut the samples to the hours of the run: they span %.0f h", ErrNoFit, span/3600)
	}
	var why error
	for _, g := range signals() {
		signal, ok := g.signal(samples, int(span/step)+1)
		if !ok {
			continue
		}
		r := correlate(signal, load)
		at, half, err := peak(r)
		if err != nil {
			why = errors.Join(why, fmt.Errorf("%s: %w", g.name, err))
			continue
		}
		lag := at - len(signal) + 1
		return Fit{OffsetS: math.Round((float64(lag)*step-first)*1e3) / 1e3, UncertaintyS: half * step, Correlation: r[at], By: g.name}, nil
	}
	if why == nil {
		why = errors.New("neither utilisation nor power changes in the samples")
	}
	return Fit{}, fmt.Errorf("%w: %w", ErrNoFit, why)
}

// busy is the share of each step in which a request was in flight, from the run's begin.
func busy(requests []record.Request) []float64 {
	end := 0.0
	for _, q := range requests {
		if q.Sent() && q.DoneTS < 1e7 {
			end = max(end, q.DoneTS)
		}
	}
	out := make([]float64, int(end/step)+1)
	for _, q := range requests {
		if !q.Sent() || q.DoneTS > end {
			continue
		}
		for i := max(0, int(q.SentTS/step)); i < len(out) && float64(i)*step < q.DoneTS; i++ {
			from, to := max(q.SentTS, float64(i)*step), min(q.DoneTS, float64(i+1)*step)
			out[i] = min(1, out[i]+(to-from)/step)
		}
	}
	return out
}

// signals are the columns that rise with load, the better first.
func signals() []gauge {
	return []gauge{
		{"util_gpu_pct", func(s *record.Sample) *float64 { return s.UtilGPUPct }},
		{"power_w", func(s *record.Sample) *float64 { return s.PowerW }},
	}
}

type gauge struct {
	name string
	of   func(*record.Sample) *float64
}

// signal is the column over time, summed over all cards, less its mean. ok is false
// where it never changes.
func (g gauge) signal(samples []record.Sample, n int) (out []float64, ok bool) {
	out = make([]float64, n)
	last, sum, at := map[int]float64{}, 0.0, 0
	for i := range samples {
		v := g.of(&samples[i])
		if v == nil {
			continue
		}
		for to := int(samples[i].Time.Sub(samples[0].Time).Seconds() / step); at < to && at < n; at++ {
			out[at] = sum
		}
		sum += *v - last[samples[i].Device]
		last[samples[i].Device] = *v
	}
	for ; at < n; at++ {
		out[at] = sum
	}
	mean := 0.0
	for _, v := range out {
		mean += v / float64(n)
	}
	for i := range out {
		out[i] -= mean
		ok = ok || math.Abs(out[i]) > 1e-6*max(1, math.Abs(mean))
	}
	return out, ok
}

// correlate gives the correlation at each lag of the load behind the signal, from the
// last point of the signal on the first of the load on. Before and after the run there
// is no load.
func correlate(signal, load []float64) []float64 {
	n, m := len(signal), len(load)
	sums, squares := make([]float64, m+1), make([]float64, m+1)
	for i, v := range load {
		sums[i+1], squares[i+1] = sums[i]+v, squares[i]+v*v
	}
	energy := 0.0
	for _, v := range signal {
		energy += v * v
	}
	out := make([]float64, n+m-1)
	for k := range out {
		lag := k - n + 1
		from, to := max(0, lag), min(m, lag+n)
		sum := sums[to] - sums[from]
		spread := squares[to] - squares[from] - sum*sum/float64(n)
		if sum < leastCovered*sums[m] || spread < 1e-9 {
			continue
		}
		both := 0.0
		part := signal[from-lag:]
		for i, v := range load[from:to] {
			both += v * part[i]
		}
		out[k] = both / math.Sqrt(energy*spread)
	}
	return out
}

// peak finds the one place where the correlation stands out, and half the width of its
// peak at half of its height, both in steps.
func peak(r []float64) (at int, half float64, err error) {
	for i, v := range r {
		if v > r[at] {
			at = i
		}
	}
	if len(r) == 0 || r[at] < leastPeak {
		return 0, 0, errors.New("it does not rise and fall with the requests in flight")
	}
	from, to := at, at
	for from > 0 && r[from-1] >= r[at]/2 {
		from--
	}
	for to < len(r)-1 && r[to+1] >= r[at]/2 {
		to++
	}
	for i, v := range r {
		if (i < from || i > to) && v > mostRival*r[at] {
			return 0, 0, fmt.Errorf("it fits %.1f s further on nearly as well", float64(i-at)*step)
		}
	}
	return at, float64(to-from+1) / 2, nil
}
