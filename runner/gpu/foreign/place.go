package foreign

import (
	"cmp"
	"slices"
	"time"

	"rung/sinks/record"
)

// Place puts samples on the run's clock: offset is added to their times, and each gets
// the place that the run was at. Those from before the run and after its end are left
// out. Both are changed; the samples come back in order of time.
func Place(samples []record.Sample, events []record.Event, began time.Time, offset time.Duration) []record.Sample {
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b record.Event) int { return cmp.Compare(a.TS, b.TS) })
	slices.SortStableFunc(samples, func(a, b record.Sample) int { return a.Time.Compare(b.Time) })
	if len(events) == 0 {
		return nil
	}
	end := events[len(events)-1].TS
	var out []record.Sample
	var here record.Place
	next := 0
	for _, s := range samples {
		s.Time = s.Time.Add(offset)
		s.TS = s.Time.Sub(began).Seconds()
		for ; next < len(events) && events[next].TS <= s.TS; next++ {
			here = after(here, events[next])
		}
		if s.TS >= 0 && s.TS <= end {
			s.Place, s.Forced = here, false
			out = append(out, s)
		}
	}
	return out
}

// after is where the run is after an event.
func after(here record.Place, e record.Event) record.Place {
	switch e.Kind {
	case record.PhaseBegin, record.IdleBegin, record.IdleEnd, record.RungBegin, record.RoundBegin:
		return e.Place
	case record.PhaseEnd, record.RungEnd, record.LadderBegin, record.LadderEnd, record.PassBegin, record.PassEnd, record.RunEnd:
		return record.Place{}
	default:
		return here
	}
}
