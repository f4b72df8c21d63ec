package results

import (
	"math"
	"slices"

	"rung/results/rows"
	"rung/sinks/record"
)

// buckets is how many the time of a run is cut into for the timeline.
const buckets = 300

// Timeline is a run over its time, thinned by peaks: of each bucket the least and the
// greatest value, never an average, so that a spike stays to be seen.
type Timeline struct {
	BeginS  float64
	BucketS float64  // the length of one
	Spans   []Span   // rungs and phases, in order
	Series  []Series // what was known at any time
	// Failures are requests that the server failed, by the bucket in which they ended;
	// empty where there are none.
	Failures []int
}

// Span is the time of one visit of a rung, or of a phase.
type Span struct {
	Ladder string
	Phase  record.Phase // outside ladders
	Value  float64
	Pass   int
	Begin  float64
	End    float64
}

// Series is one figure over the time: its reach in each bucket, nil where it was not
// read.
type Series struct {
	Name string
	Unit string
	Low  []*float64
	High []*float64
}

// The series of a timeline.
const (
	LineMemory   = "memory"
	LineUtil     = "utilisation"
	LineClock    = "SM clock"
	LineRunning  = "running"
	LineWaiting  = "waiting"
	LinePool     = "pool"
	LineInFlight = "in flight"
)

// timeline cuts a run into buckets; nil where it took no time.
func timeline(r *Run, card watched, page []reading) *Timeline {
	begin, end := math.Inf(1), math.Inf(-1)
	see := func(t float64) { begin, end = math.Min(begin, t), math.Max(end, t) }
	for _, e := range r.Events {
		see(e.TS)
	}
	for _, a := range r.Requests.Attempts() {
		for _, q := range a.Round().Times {
			if q.Sent() {
				see(q.SentTS)
				see(q.DoneTS)
			}
		}
	}
	if !(end > begin) {
		return nil
	}
	t := &Timeline{BeginS: begin, BucketS: (end - begin) / buckets, Spans: spans(r.Events), Series: []Series{}}
	memory, util, clock := newLine(LineMemory, "bytes"), newLine(LineUtil, "%"), newLine(LineClock, "MHz")
	for _, s := range card.samples {
		if s.MemUsedBytes != nil {
			memory.see(t, s.TS, float64(*s.MemUsedBytes))
		}
		if s.UtilGPUPct != nil && !card.noUtil {
			util.see(t, s.TS, *s.UtilGPUPct)
		}
		if s.SMClockMHz != nil {
			clock.see(t, s.TS, *s.SMClockMHz)
		}
	}
	running, waiting, pool := newLine(LineRunning, "requests"), newLine(LineWaiting, "requests"), newLine(LinePool, "%")
	for _, x := range page {
		if v, ok := x.get(seriesRunning); ok {
			running.see(t, x.ts, v)
		}
		if v, ok := x.get(seriesWaiting); ok {
			waiting.see(t, x.ts, v)
		}
		if v, ok := x.get(seriesKVUsage); ok {
			pool.see(t, x.ts, 100*v)
		}
	}
	for _, s := range []*Series{memory, util, clock, inFlight(t, r.Requests), running, waiting, pool} {
		if s.known() {
			t.Series = append(t.Series, *s)
		}
	}
	t.failed(r.Requests)
	return t
}

// bucket is the one that a time falls into; -1 for none.
func (t *Timeline) bucket(ts float64) int {
	i := int((ts - t.BeginS) / t.BucketS)
	switch {
	case i == buckets: // the end itself
		return buckets - 1
	case ts < t.BeginS || i > buckets:
		return -1
	default:
		return i
	}
}

func newLine(name, unit string) *Series {
	return &Series{Name: name, Unit: unit, Low: make([]*float64, buckets), High: make([]*float64, buckets)}
}

// see takes a value at a time.
func (s *Series) see(t *Timeline, ts, value float64) {
	i := t.bucket(ts)
	if i < 0 || finite(value) == nil {
		return
	}
	if s.Low[i] == nil {
		s.Low[i], s.High[i] = new(value), new(value)
		return
	}
	*s.Low[i], *s.High[i] = math.Min(*s.Low[i], value), math.Max(*s.High[i], value)
}

// known says that the series has a value other than 0 at some time.
func (s *Series) known() bool {
	return slices.ContainsFunc(s.High, func(v *float64) bool { return v != nil && *v > 0 })
}

// instants is at how many instants of a bucket requests in flight are counted.
const instants = 20

// inFlight counts requests from sent to done, at twenty instants of each bucket.
func inFlight(t *Timeline, all *rows.Table) *Series {
	step := t.BucketS / instants
	change := make([]int, buckets*instants+1)
	at := func(ts float64) int { return min(max(int(math.Ceil((ts-t.BeginS)/step)), 0), buckets*instants) }
	for _, a := range all.Attempts() {
		for _, q := range a.Round().Times {
			if q.Sent() && q.DoneTS >= q.SentTS {
				change[at(q.SentTS)]++
				change[at(q.DoneTS)]--
			}
		}
	}
	s, n := newLine(LineInFlight, "requests"), 0
	for i, c := range change[:buckets*instants] {
		n += c
		s.see(t, t.BeginS+(float64(i)+0.5)*step, float64(n))
	}
	return s
}

// failed counts the failures in each bucket.
func (t *Timeline) failed(all *rows.Table) {
	n := make([]int, buckets)
	some := false
	for _, a := range all.Attempts() {
		for q := range a.Failed() {
			if b := t.bucket(max(q.DoneTS, q.DueTS)); b >= 0 {
				n[b]++
				some = true
			}
		}
	}
	if some {
		t.Failures = n
	}
}

// spans are the visits of rungs and the phases outside ladders, in order of time.
func spans(events []record.Event) []Span {
	out := []Span{}
	events = sortedEvents(events)
	for i, e := range events {
		end := record.RungEnd
		switch e.Kind {
		case record.RungBegin:
		case record.PhaseBegin:
			end = record.PhaseEnd
		default:
			continue
		}
		s := Span{Ladder: e.Ladder, Value: e.Value, Pass: e.Pass, Begin: e.TS, End: e.TS}
		if end == record.PhaseEnd {
			s.Phase = e.Phase
		}
		for _, f := range events[i:] {
			if f.Kind == end && f.Ladder == e.Ladder && f.Phase == e.Phase && f.Pass == e.Pass && f.Rung == e.Rung {
				s.End = f.TS
				break
			}
		}
		if s.End > s.Begin {
			out = append(out, s)
		}
	}
	return out
}
