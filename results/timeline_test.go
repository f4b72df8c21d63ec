package results_test

import (
	"testing"

	"rung/results"
	"rung/results/resultstest"
	"rung/sinks/record"
)

func lineOf(t *testing.T, tl *results.Timeline, name string) results.Series {
	t.Helper()
	for _, s := range tl.Series {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no %s in the timeline", name)
	return results.Series{}
}

// A spike of a single sample, a request at a time and a failure are all still to be seen
// after the thinning.
func TestTimelineKeepsPeaks(t *testing.T) {
	r := paged().Run()
	spike := len(r.Samples) / 3
	r.Samples[spike].MemUsedBytes = new(23 * resultstest.GiB)
	r.Requests[len(r.Requests)-1].Outcome = record.OOM
	tl := report(r).Timeline
	if tl == nil || len(tl.Spans) != 13 || tl.Spans[0].Phase != record.Baseline || tl.Spans[1].Ladder != "concurrency" || tl.Spans[4].Value != 8 {
		t.Fatalf("%+v", tl)
	}
	most := 0.0
	for i, high := range lineOf(t, tl, results.LineMemory).High {
		if high == nil {
			continue
		}
		if most = max(most, *high); *high == float64(23*resultstest.GiB) {
			begin := tl.BeginS + float64(i)*tl.BucketS
			if ts := r.Samples[spike].TS; ts < begin || ts > begin+tl.BucketS {
				t.Errorf("the spike of %.1f s stands at %.1f s", ts, begin)
			}
		}
	}
	if most != float64(23*resultstest.GiB) {
		t.Errorf("the greatest is %g", most)
	}
	flying := 0.0
	for _, high := range lineOf(t, tl, results.LineInFlight).High {
		if high != nil {
			flying = max(flying, *high)
		}
	}
	failed := 0
	for _, n := range tl.Failures {
		failed += n
	}
	if flying != 8 || failed != 1 {
		t.Errorf("%g in flight, %d failed", flying, failed)
	}
}

// Every counted latency is in one bin of its rung.
func TestHistograms(t *testing.T) {
	for _, l := range report(resultstest.Small().Run()).Ladders {
		h := l.Histogram
		if h == nil || len(h.Rungs) != len(l.Rungs) {
			t.Fatalf("%+v", h)
		}
		for i, row := range h.Rungs {
			n := 0
			for b, k := range row {
				n += k
				if k > 0 && (h.BoundsS[b+1] < l.Rungs[i].Latency.MinS*0.999 || h.BoundsS[b] > l.Rungs[i].Latency.MaxS*1.001) {
					t.Errorf("%s %g: bin %d lies outside of its latencies", l.Name, l.Rungs[i].Value, b)
				}
			}
			if n != l.Rungs[i].Latency.N {
				t.Errorf("%s %g: %d of %d", l.Name, l.Rungs[i].Value, n, l.Rungs[i].Latency.N)
			}
		}
	}
}
