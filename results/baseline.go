package results

import (
	"fmt"

	"rung/sinks/record"
	"rung/spec/plan"
)

// newBaseline sums up the single requests before the ladders.
func newBaseline(b *plan.Baseline, api plan.API, all []attempt, rules plan.BaselineCheck) Baseline {
	if b == nil {
		return Baseline{Reason: "the plan has no baseline", Verdict: "unknown: the plan has no baseline"}
	}
	out := Baseline{Shape: b.Shape}
	warm := visits(all).in(record.Warmup).filter(func(a attempt) bool { return a.Ladder == "" })
	out.Warmups = failures(warm.tally())
	rows := visits(all).in(record.Baseline)
	counted := rows.filter(func(a attempt) bool { return a.counted })
	out.Latency = summarise(counted.latencies())
	out.Failures = failures(rows.tally())
	out.Refused, _ = rows.refusals()
	if out.Latency == nil {
		out.Reason = "no single request succeeded"
		switch {
		case len(rows) == 0:
			out.Reason = "no single request was sent"
		case len(out.Refused) > 0:
			out.Reason = "no single request counts, " + firstWords(out.Refused[0].Reason)
		}
		out.Verdict = "unknown: " + out.Reason
		out.TokensReason = out.Reason
		return out
	}
	out.interference(rules.Interference)
	out.tokens(api, counted)
	return out
}

// quietNeeds is how many single requests it takes to call a machine quiet: below,
// P95 is no more than the slowest of them.
const quietNeeds = 20

// interference judges the spread of single requests of one length: a quiet
// machine answers them alike.
func (b *Baseline) interference(most float64) {
	if b.Latency.MedianS <= 0 {
		b.Verdict = "unknown: the median is 0"
		return
	}
	ratio := b.Latency.P95S / b.Latency.MedianS
	if finite(ratio) == nil {
		b.Verdict = "unknown: the median is next to 0"
		return
	}
	b.P95OverMedian, b.Noisy = &ratio, ratio > most
	how := fmt.Sprintf("P95 is %.2f times the median", ratio)
	switch {
	case b.Noisy:
		b.Verdict = fmt.Sprintf("noisy: look for other load and clean up first (%s, more than the declared %g)", how, most)
	case b.Latency.N < quietNeeds:
		b.Verdict = fmt.Sprintf("unknown: n = %d is too few to tell (%s)", b.Latency.N, how)
	default:
		b.Verdict = "quiet: " + how
	}
}

// tokens gives the seconds that 1,000 tokens take, one request at a time, by the
// server's own counts.
func (b *Baseline) tokens(api plan.API, counted visits) {
	var seconds, input, output float64
	for _, a := range counted {
		for r := range a.rows.All() {
			if r.Outcome != record.OK {
				continue
			}
			if r.InputTokens == nil || api.Generates() && r.OutputTokens == nil {
				b.TokensReason = "the server did not count the tokens of every answer"
				return
			}
			seconds += r.LatencyS()
			input += float64(*r.InputTokens)
			if r.OutputTokens != nil {
				output += float64(*r.OutputTokens)
			}
		}
	}
	if input+output > 0 {
		b.SPer1000Tokens = finite(1000 * seconds / (input + output))
	}
	if output > 0 {
		b.SPer1000Completion = finite(1000 * seconds / output)
	}
}
