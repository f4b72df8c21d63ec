package results

import "math"

// bins is how many a ladder's histograms have.
const bins = 40

// Histogram is the latencies of a ladder's rungs on one axis: the bins' bounds in
// seconds, even steps of their logarithm, shared by all rungs.
type Histogram struct {
	BoundsS []float64 // one more than there are bins
	Rungs   [][]int   // a row a rung that was walked: how many counted successes fell into each bin
}

// histogram sorts the counted latencies of a ladder; nil where they do not differ.
func (w *walked) histogram() *Histogram {
	low, high := math.Inf(1), 0.0
	for _, r := range w.out.Rungs {
		if r.Latency != nil && r.Latency.MinS > 0 {
			low, high = math.Min(low, r.Latency.MinS), math.Max(high, r.Latency.MaxS)
		}
	}
	if !(high > low) {
		return nil
	}
	out := &Histogram{}
	from, step := math.Log(low), math.Log(high/low)/bins
	for i := range bins + 1 {
		out.BoundsS = append(out.BoundsS, math.Exp(from+float64(i)*step))
	}
	out.Rungs = make([][]int, len(w.out.Rungs))
	each(len(w.out.Rungs), func(i int) {
		row := make([]int, bins)
		for _, s := range w.rows[w.out.Rungs[i].Index].counted().latencies() {
			if s > 0 {
				row[min(max(int((math.Log(s)-from)/step), 0), bins-1)]++
			}
		}
		out.Rungs[i] = row
	})
	return out
}
