package runner

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rung/sinks/record"
	"rung/spec/plan"
)

// rest keeps the card as it is in the idle time, by its name.
func (r *run) rest() { r.idle = r.sampling.latest() }

// coolDown is what lies between two rungs: a fixed time, or until the card is as it
// was in the idle time. It is false where the run is to stop.
func (r *run) coolDown(l plan.Ladder, place record.Place) bool {
	if l.Settle == nil {
		return pause(r.drain, l.Cooldown.D())
	}
	r.event(record.SettleBegin, place, nil)
	begin, off := time.Now(), ""
	for {
		off = r.unsettled(*l.Settle)
		if off == "" || time.Since(begin) >= l.Settle.Timeout.D() {
			break
		}
		if !pause(r.drain, max(r.sampling.interval, 10*time.Millisecond)) {
			return false
		}
	}
	r.event(record.SettleEnd, place, func(e *record.Event) {
		e.Reason = fmt.Sprintf("settled after %.1f s", time.Since(begin).Seconds())
		if off != "" {
			e.Reason = fmt.Sprintf("given up after %.1f s: %s", time.Since(begin).Seconds(), off)
		}
	})
	return true
}

// unsettled says in what a card is not yet as it was; "" where all are.
func (r *run) unsettled(s plan.Settle) string {
	now := r.sampling.latest()
	if len(r.idle) == 0 || len(now) == 0 {
		return "no samples of the card, so that nothing tells when it is"
	}
	var off []string
	for _, uuid := range slices.Sorted(maps.Keys(r.idle)) {
		was, is := r.idle[uuid], now[uuid]
		if is == nil {
			return "no samples of " + uuid
		}
		off = append(off, apart(s, was, is)...)
	}
	return strings.Join(off, ", ")
}

// apart says in what two samples of one card differ by more than is allowed. What one
// of them has not can't be told.
func apart(s plan.Settle, was, is *record.Sample) []string {
	var off []string
	if was.MemUsedBytes != nil && is.MemUsedBytes != nil && is.MemTotalBytes != nil {
		if over := *is.MemUsedBytes - *was.MemUsedBytes; float64(over) > s.Memory*float64(*is.MemTotalBytes) {
			off = append(off, fmt.Sprintf("memory is %.2f GiB above the idle time's", float64(over)/(1<<30)))
		}
	}
	if was.TemperatureC != nil && is.TemperatureC != nil && *is.TemperatureC-*was.TemperatureC > s.Temperature {
		off = append(off, fmt.Sprintf("temperature is %.0f °C above", *is.TemperatureC-*was.TemperatureC))
	}
	if was.SMClockMHz != nil && is.SMClockMHz != nil && *is.SMClockMHz < (1-s.Clock)**was.SMClockMHz {
		off = append(off, fmt.Sprintf("the SM clock is %.0f MHz, it was %.0f", *is.SMClockMHz, *was.SMClockMHz))
	}
	return off
}
