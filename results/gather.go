package results

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"rung/sinks/record"
	"rung/spec/plan"
)

// attempt is all requests of one attempt of one round, in order of index.
type attempt struct {
	record.Place
	rows    []record.Request
	counted bool
	reason  string  // why it does not count
	begin   float64 // of the round, on the run's clock; NaN where no event says
}

// attempts sorts requests by their place, so that their order in the files means
// nothing, and cuts them into attempts of rounds. Probes are left out.
func attempts(rows []record.Request) []attempt {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b record.Request) int {
		return cmp.Or(comparePlaces(a.Place, b.Place), cmp.Compare(a.Index, b.Index), cmp.Compare(a.ID, b.ID), cmp.Compare(a.SentTS, b.SentTS))
	})
	var out []attempt
	for begin := 0; begin < len(rows); {
		end := begin + 1
		for end < len(rows) && comparePlaces(rows[begin].Place, rows[end].Place) == 0 {
			end++
		}
		switch rows[begin].Phase {
		case record.Baseline, record.Warmup, record.Measure, record.Confirm, record.Retest, checkWarmup:
			out = append(out, newAttempt(rows[begin:end]))
		default:
		}
		begin = end
	}
	return out
}

// newAttempt takes the verdict of the round from a row that is none of those sent
// again, which never count.
func newAttempt(rows []record.Request) attempt {
	said := rows[max(0, slices.IndexFunc(rows, func(r record.Request) bool { return !r.ResetIdle }))]
	return attempt{Place: said.Place, rows: rows, counted: said.Counted, reason: said.RejectReason, begin: math.NaN()}
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

func comparePlaces(a, b record.Place) int {
	return cmp.Or(
		cmp.Compare(a.Ladder, b.Ladder), cmp.Compare(a.Phase, b.Phase), cmp.Compare(a.Rung, b.Rung),
		cmp.Compare(a.Pass, b.Pass), cmp.Compare(a.Round, b.Round), cmp.Compare(a.Attempt, b.Attempt))
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

// successes are the requests that the server answered well, as they lie: a copy of each
// would cost more than all that is done with them.
func (v visits) successes() iter.Seq[*record.Request] {
	return func(yield func(*record.Request) bool) {
		for _, a := range v {
			for i := range a.rows {
				if r := &a.rows[i]; r.Outcome == record.OK && !yield(r) {
					return
				}
			}
		}
	}
}

// latencies are those of the successes, in seconds.
func (v visits) latencies() []float64 {
	var out []float64
	for r := range v.successes() {
		out = append(out, r.LatencyS())
	}
	return out
}

// tally counts what became of the requests, as the runner does when it looks for
// the edge: all attempts, without what was cancelled or met a connection that the
// server had closed while it lay idle, and was sent again.
func (v visits) tally() plan.Tally {
	var t plan.Tally
	for _, a := range v {
		for _, r := range a.rows {
			if r.Outcome != record.Cancelled && !r.ResetIdle {
				t.Add(string(r.Outcome), r.Failed())
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
