package results

import (
	"cmp"
	"slices"
	"strings"
)

// What can bind a rung.
const (
	ByClient     = "client_limited" // the client was measured
	ByThrottling = "throttled"
	ByQueueing   = "queueing"
	ByPaging     = "paging" // the memory for tokens is full
	ByCompute    = "compute-bound"
	ByBandwidth  = "bandwidth-bound" // of the card's memory
	ByHost       = "host-bound"
	Undetermined = "undetermined"
)

// Diagnosis says what bound a rung. It takes two signals that agree; with fewer, or
// where they point at two causes, it is undetermined.
type Diagnosis struct {
	Verdict string `json:"verdict"`
	// Signals are all that were seen, those of the verdict first: what each points at,
	// and the figures that it rests on.
	Signals []Signal `json:"signals,omitempty"`
	Reason  string   `json:"reason,omitempty"` // why it is undetermined
}

// Signal is one thing that points at a cause.
type Signal struct {
	Of   string `json:"of"`
	Says string `json:"says"`
}

// leastSignals is how many have to agree.
const leastSignals = 2

// Evidence are the figures that the verdict rests on, in words.
func (d Diagnosis) Evidence() string {
	var out []string
	for _, s := range d.Signals {
		if s.Of == d.Verdict {
			out = append(out, s.Says)
		}
	}
	return strings.Join(out, "; ")
}

// diagnose fills in what bound the rungs that were walked.
func (w *walked) diagnose(m memory, missing string) {
	var below *Rung
	for i := range w.out.Rungs {
		r := &w.out.Rungs[i]
		f := facts{w: w, r: r, below: below, m: m, growth: 1}
		if below != nil && below.Value > 0 {
			f.growth = r.Value / below.Value
		}
		r.Diagnosis, w.facts = f.diagnosis(missing), append(w.facts, f)
		if r.Latency != nil {
			below = r
		}
	}
}

// facts are what a rung's diagnosis rests on: the rung, the one walked below it, and
// by how much the load grew from the one to the other.
type facts struct {
	w      *walked
	r      *Rung
	below  *Rung
	m      memory
	growth float64
}

// cause is what a verdict needs.
type cause struct {
	name    string
	signals func(facts) []string
	// speaks says whether its own signal is among those that were found: the others may
	// have several causes.
	speaks func(facts) bool
	// barred says what rules it out, whatever the signals; "" for nothing.
	barred func(facts) string
}

// causes are all, those that void a measurement first.
func causes() []cause {
	always := func(facts) bool { return true }
	never := func(facts) string { return "" }
	return []cause{
		{ByClient, facts.client, always, never},
		{ByThrottling, facts.throttling, always, never},
		{ByPaging, facts.paging, facts.full, never},
		{ByQueueing, facts.queueing, always, facts.notQueueing},
		{ByCompute, facts.compute, facts.atWork, facts.mayWait},
		{ByBandwidth, facts.bandwidth, facts.underPower, facts.mayWait},
		{ByHost, facts.host, facts.starved, never},
	}
}

func (f facts) diagnosis(missing string) *Diagnosis {
	var out Diagnosis
	var hold []string
	for _, c := range causes() {
		found := c.signals(f)
		for _, s := range found {
			out.Signals = append(out.Signals, Signal{c.name, s})
		}
		if len(found) >= leastSignals && c.speaks(f) && c.barred(f) == "" {
			hold = append(hold, c.name)
		}
	}
	out.Verdict = choose(hold)
	if out.Verdict == Undetermined {
		out.Reason = f.why(hold, out.Signals, missing)
		return &out
	}
	slices.SortStableFunc(out.Signals, func(a, b Signal) int {
		return cmp.Compare(rank(a.Of, out.Verdict), rank(b.Of, out.Verdict))
	})
	return &out
}

// rank is 0 for what is of the verdict.
func rank(of, verdict string) int {
	if of == verdict {
		return 0
	}
	return 1
}

// choose picks the verdict of those that hold. What voids the measurement goes before
// all others, and requests that wait for a full pool are not a queue's own doing.
func choose(hold []string) string {
	switch {
	case len(hold) == 0:
		return Undetermined
	case hold[0] == ByClient || hold[0] == ByThrottling:
		return hold[0]
	case len(hold) == 1:
		return hold[0]
	case len(hold) == 2 && hold[0] == ByPaging && hold[1] == ByQueueing:
		return ByPaging
	default:
		return Undetermined
	}
}

// why says what a verdict lacks.
func (f facts) why(hold []string, seen []Signal, missing string) string {
	switch {
	case len(hold) > 1:
		return "signals of " + and(hold) + " stand beside each other"
	case len(seen) == 0 && missing != "":
		return "no signal was seen, and " + missing
	case len(seen) == 0:
		return "no signal was seen"
	case missing != "":
		return "no two signals agree, and " + missing
	default:
		return "no two signals agree"
	}
}

// unwatched names what was not looked at, and would have shown more.
func unwatched(rep *Report, card watched) string {
	var out []string
	if rep.Metrics.Reason != "" {
		out = append(out, rep.Metrics.Reason)
	}
	if len(card.samples) == 0 {
		out = append(out, "no GPU was sampled")
	}
	return strings.Join(out, ", ")
}
