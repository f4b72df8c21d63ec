package runner

import (
	"cmp"
	"fmt"
	"slices"

	"rung/runner/prompt"
	"rung/sinks/record"
)

// leastInFlight is the share of the asked requests in flight below which a round
// measured the client. A perfect client scores 1.000 whatever the spread.
const leastInFlight = 0.95

// admit says why a round must not count, or "" where it does. planned is the
// number of requests that the round was to have; 0 where that was not planned.
func (r *run) admit(place record.Place, v visit, res result, planned int) string {
	if r.stopped() && !res.cut && (len(own(res.rows)) < planned || planned == 0 || has(res.rows, record.Cancelled)) || has(res.rows, record.Cancelled) {
		return cutShort
	}
	if reason := refuseBy(res.rows, record.TokenMismatch, "input tokens off the plan"); reason != "" {
		return reason
	}
	if reason := r.usageLost(res.rows); reason != "" {
		return reason
	}
	if reason := refuseBy(res.rows, record.ClientLimited, "this machine ran out of descriptors or ports"); reason != "" {
		return reason
	}
	if reason := r.cached(v, res); reason != "" {
		return reason
	}
	if reason := r.throttled(place, res.rows); reason != "" {
		return reason
	}
	if reason := r.shared(place, res.rows); reason != "" {
		return reason
	}
	if res.dry {
		return "client_limited: the prompts that were made beforehand ran out before the round's time"
	}
	if res.busy != "" {
		return res.busy
	}
	if v.rate > 0 {
		return late(res.rows)
	}
	return v.thin(res)
}

// thin says that fewer requests were in flight than asked, in the round's steady part.
func (v visit) thin(res result) string {
	n := v.shape.InFlight
	if res.cut || len(res.rows) < 2*n || !has(res.rows, record.OK) {
		return "" // too short to say anything of its steady part, or nothing in it to measure
	}
	round := record.RoundOf(res.rows)
	if mean := round.MeanInFlight(round.SteadyWindow()); mean < leastInFlight*float64(n) {
		return fmt.Sprintf("client_limited: %.2f in flight on average, asked were %d", mean, n)
	}
	return ""
}

// leastWindow is how many median latencies the steady window must have, that the
// start of the round does not weigh much in it.
const leastWindow = 3

// short flags a steady window that is hardly longer than the requests in it. One
// request at a time has no start that could weigh.
func (v visit) short(rows []record.Request, w record.Window) string {
	l := latencies(rows)
	if len(l) == 0 || v.shape.InFlight <= 1 {
		return ""
	}
	if m := record.Quantile(l, 0.5); w.Len() < leastWindow*m {
		return fmt.Sprintf("short window: %.3g s, a request takes %.3g s", w.Len(), m)
	}
	return ""
}

// An open loop's sends may be late by this share of the median span from sent to
// done, or by this many seconds, whichever is more: what a timer can't keep is no
// fault of a round.
const (
	mostLate  = 0.05
	leastLate = 0.001
)

// late says that an open loop did not send when requests were due.
func late(rows []record.Request) string {
	var behind, spans []float64
	for _, row := range rows {
		if row.Sent() && !row.ResetIdle {
			behind = append(behind, row.SentTS-row.DueTS)
			spans = append(spans, row.ServiceS())
		}
	}
	if len(behind) == 0 {
		return ""
	}
	slices.Sort(behind)
	slices.Sort(spans)
	p95, r := record.Quantile(behind, 0.95), record.Quantile(spans, 0.5)
	if p95 > max(leastLate, mostLate*r) {
		return fmt.Sprintf("client_limited: the P95 of sends was %.1f ms late, and a request takes %.1f ms", 1000*p95, 1000*r)
	}
	return ""
}

// cacheBlock is how many tokens a prefix cache keeps together, where the server does
// not say.
const cacheBlock = 16

// cached says that the server took more of the prompts from its prefix cache than
// what every request must share: what the template puts before them, in whole blocks,
// and the first few tokens behind it, which two prompts may share by chance. Prompts
// that are sent again are refused too: what a cache answers says nothing of the model.
func (r *run) cached(v visit, res result) string {
	shared := r.materials[v.prompt.Name].shared()
	shared = max((shared+cacheBlock-1)/cacheBlock*cacheBlock, shared+prompt.Chance)
	hit, allowed, n := 0, 0, 0
	for _, row := range res.rows {
		if row.Outcome != record.OK || row.CachedTokens == nil && res.hits == nil {
			continue
		}
		if row.CachedTokens != nil {
			hit += *row.CachedTokens
		}
		allowed += shared * row.Inputs
		n++
	}
	by := "by its answers"
	if res.hits != nil {
		hit, by = int(*res.hits), "by its own counter"
	}
	if hit <= allowed {
		return ""
	}
	return fmt.Sprintf("served from the cache: %d prompt tokens of %d requests came from the server's prefix cache, %s; planned were at most %d", hit, n, by, allowed)
}

// Reasons of a throttle that void a round, as NVML's bits: a slowdown by the hardware,
// by heat or by the power supply. A power cap is a condition, not a fault.
const voidingThrottle = 0x8 | 0x20 | 0x40 | 0x80

// leastClock is the share of the same rung's median SM clock below which a round is
// not the same measurement.
const leastClock = 0.95

// throttled says that the card ran slower in the round than it does at this rung.
func (r *run) throttled(place record.Place, rows []record.Request) string {
	if len(rows) == 0 {
		return ""
	}
	bits, clock := r.sampling.during(spanOf(rows))
	if bits&voidingThrottle != 0 {
		return fmt.Sprintf("throttled: the GPU gave a slowdown as its throttle reason (bits %#x)", bits)
	}
	if clock == 0 || place.Ladder == "" {
		return ""
	}
	key := rungKey{place.Ladder, place.Rung}
	before := r.clocks[key]
	slices.Sort(before)
	if len(before) > 0 {
		if usual := record.Quantile(before, 0.5); clock < leastClock*usual {
			return fmt.Sprintf("throttled: the SM clock was %.0f MHz, %.0f MHz before at this rung", clock, usual)
		}
	}
	r.clocks[key] = append(before, clock)
	return ""
}

// shared says that another process computed on the card in the round: one that was
// not there before the ladders, nor when the server had been started again.
func (r *run) shared(place record.Place, rows []record.Request) string {
	if len(rows) == 0 || place.Phase == record.Baseline {
		return ""
	}
	if pid := r.sampling.other(spanOf(rows)); pid != 0 {
		return fmt.Sprintf("gpu_shared: process %d computes on the device, and was not there before", pid)
	}
	return ""
}

// spanOf is from the first send of a round to its last end.
func spanOf(rows []record.Request) (begin, end float64) {
	round := record.RoundOf(rows)
	begin = round.SteadyWindow().Begin
	return begin, begin + round.WallS()
}

// rungKey names a rung over the passes.
type rungKey struct {
	ladder string
	rung   int
}

func has(rows []record.Request, o record.Outcome) bool {
	return slices.ContainsFunc(rows, func(row record.Request) bool { return row.Outcome == o })
}

// usageLost says in how many successes the usage is missing that the server gave
// before the run: their length is not confirmed.
func (r *run) usageLost(rows []record.Request) string {
	n := 0
	for _, row := range rows {
		if r.usage && row.Outcome == record.OK && row.InputTokens == nil {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("no usage in %d of %d answers: their input tokens are not confirmed", n, len(rows))
}

// own are the rows without those that were sent again, since they met a connection
// that the server had closed while it lay idle: they say nothing of it.
func own(rows []record.Request) []record.Request {
	return slices.DeleteFunc(slices.Clone(rows), func(row record.Request) bool { return row.ResetIdle })
}

func refuseBy(rows []record.Request, o record.Outcome, words string) string {
	n := 0
	for _, row := range rows {
		if row.Outcome == o {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s: %s in %d of %d requests", o, words, n, len(rows))
}

// incidents numbers the failures of a round so that those of one cause share a
// number: equal outcomes whose spans overlap.
func (r *run) incidents(rows []record.Request) {
	var failed []*record.Request
	for i := range rows {
		if rows[i].Failed() {
			failed = append(failed, &rows[i])
		}
	}
	slices.SortStableFunc(failed, func(a, b *record.Request) int {
		return cmp.Or(cmp.Compare(a.Outcome, b.Outcome), cmp.Compare(a.SentTS, b.SentTS))
	})
	end := 0.0
	for i, row := range failed {
		if i == 0 || row.Outcome != failed[i-1].Outcome || row.SentTS > end {
			r.incident++
			end = row.DoneTS
		}
		end = max(end, row.DoneTS)
		id := r.incident
		row.Incident = &id
	}
}
