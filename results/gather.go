package results

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"rung/results/rows"
	"rung/sinks/record"
	"rung/spec/plan"
)

// attempt is all requests of one attempt of one round, in order of index.
type attempt struct {
	record.Place
	rows    *rows.Attempt
	counted bool
	reason  string  // why it does not count
	begin   float64 // of the round, on the run's clock; NaN where no event says
}

// attempts gives the attempts of rounds in order of their places, with the warm-ups of
// checks told from others by when they were sent. Probes are left out.
func (r *Run) attempts() []attempt {
	checks := r.checksBegun()
	var out []attempt
	for _, a := range r.Requests.Attempts() {
		switch a.Place.Phase {
		case record.Baseline, record.Measure, record.Confirm, record.Retest:
			out = append(out, newAttempt(a, a.Place.Phase))
		case record.Warmup:
			of := func(q rows.Row) bool { return afterAny(checks, a.Place.Ladder, q.SentTS) }
			if mine := a.Where(func(q rows.Row) bool { return !of(q) }); mine.Len() > 0 {
				out = append(out, newAttempt(mine, record.Warmup))
			}
			if theirs := a.Where(of); theirs.Len() > 0 {
				out = append(out, newAttempt(theirs, checkWarmup))
			}
		default:
		}
	}
	return out
}

// newAttempt takes the verdict of the round from a row that is none of those sent
// again, which never count.
func newAttempt(a *rows.Attempt, phase record.Phase) attempt {
	said := a.At(0)
	for q := range a.All() {
		if !q.ResetIdle {
			said = q
			break
		}
	}
	place := a.Place
	place.Phase, place.Value = phase, said.Value
	return attempt{Place: place, rows: a, counted: said.Counted, reason: said.RejectReason, begin: math.NaN()}
}

// begun fills in when the rounds began, as the events say.
func begun(all []attempt, events []record.Event) {
	at := map[record.Place]float64{}
	for _, e := range events {
		if e.Kind == record.RoundBegin {
			at[e.Place] = e.TS
		}
	}
	for i := range all {
		if ts, ok := at[all[i].Place]; ok {
			all[i].begin = ts
		}
	}
}

// visits are the attempts at one rung.
type visits []attempt

// in gives the attempts of one phase.
func (v visits) in(p record.Phase) visits {
	return v.filter(func(a attempt) bool { return a.Phase == p })
}

// counted gives the measured attempts that count.
func (v visits) counted() visits {
	return v.filter(func(a attempt) bool { return a.Phase == record.Measure && a.counted })
}

// pass gives the attempts of one pass.
func (v visits) pass(p int) visits { return v.filter(func(a attempt) bool { return a.Pass == p }) }

func (v visits) filter(keep func(attempt) bool) visits {
	var out visits
	for _, a := range v {
		if keep(a) {
			out = append(out, a)
		}
	}
	return out
}

// successes are the requests that the server answered well.
func (v visits) successes() iter.Seq[rows.Row] {
	return func(yield func(rows.Row) bool) {
		for _, a := range v {
			for r := range a.rows.All() {
				if r.Outcome == record.OK && !yield(r) {
					return
				}
			}
		}
	}
}

// succeeded are the kinds of the successes, and how many follow one another of each.
func (v visits) succeeded() iter.Seq2[*rows.Kind, int] {
	return func(yield func(*rows.Kind, int) bool) {
		for _, a := range v {
			for k, n := range a.rows.Kinds() {
				if k.Outcome == record.OK && !yield(k, n) {
					return
				}
			}
		}
	}
}

// requests is how many there are.
func (v visits) requests() int {
	n := 0
	for _, a := range v {
		n += a.rows.Len()
	}
	return n
}

// latencies are those of the successes, in seconds.
func (v visits) latencies() []float64 {
	out := make([]float64, 0, v.requests())
	for _, a := range v {
		for i, t := range a.rows.Round().Times {
			if a.rows.Kind(i).Outcome == record.OK {
				out = append(out, t.LatencyS())
			}
		}
	}
	return out
}

// tally counts what became of the requests, as the runner does when it looks for
// the edge: all attempts, without what was cancelled or met a connection that the
// server had closed while it lay idle, and was sent again.
func (v visits) tally() plan.Tally {
	var t plan.Tally
	for _, a := range v {
		for k, n := range a.rows.Kinds() {
			if k.Outcome != record.Cancelled && !k.ResetIdle {
				t.Add(string(k.Outcome), k.Failed(), n)
			}
		}
	}
	return t
}

// failures lists a tally's failures in the order of record.Outcomes; names that
// are not known there come last.
func failures(t plan.Tally) []Failures { return byName(t.ByName) }

func byName(n map[string]int) []Failures {
	var out []Failures
	known := map[string]bool{}
	for _, o := range record.Outcomes() {
		known[string(o)] = true
		if k := n[string(o)]; k > 0 {
			out = append(out, Failures{string(o), k})
		}
	}
	var others []Failures
	for name, k := range n {
		if !known[name] {
			others = append(others, Failures{name, k})
		}
	}
	slices.SortFunc(others, func(a, b Failures) int { return cmp.Compare(a.Name, b.Name) })
	return append(out, others...)
}

// refusals counts attempts that do not count by the kind of their reason, most first,
// and the rounds of which no attempt counts.
func (v visits) refusals() (refused []Refusal, lost int) {
	type round struct{ pass, round int }
	byReason := map[string]int{}
	counted, seen := map[round]bool{}, map[round]bool{}
	for _, a := range v {
		k := round{a.Pass, a.Round}
		seen[k] = true
		if a.counted {
			counted[k] = true
			continue
		}
		byReason[cmp.Or(a.reason, "no reason recorded")]++
	}
	return collapse(byReason), len(seen) - len(counted)
}
