package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"rung/spec/plan"
)

// commas joins the parts of a sentence that are there.
func commas(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// when is a text under a condition.
func when(ok bool, format string, args ...any) string {
	if !ok {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// ladderWords says what a ladder raises and what it sends at each rung.
func ladderWords(l plan.Ladder) string {
	open := l.Axis == plan.AxisRate
	return commas(
		fmt.Sprintf("ladder %q: %s at %s", l.Name, l.Axis, valuesOf(l))+when(open, " a second"),
		order(l.Passes),
		roundsOf(l.Rungs)+when(open, " of %s arrivals", l.Arrivals),
		shapeOf(l),
		"prompt "+l.Prompt.Name,
		"warm-up "+span(l.Rungs, func(r plan.Rung) int { return r.Warmup }),
		when(l.Settle == nil, "cool-down %s", l.Cooldown),
		when(l.Reruns != 3, "%s of each refused round", plural(l.Reruns, "rerun")),
	) + settleWords(l.Settle)
}

func settleWords(s *plan.Settle) string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf(", between rungs at most %s until the card is as it was", s.Timeout)
}

// valuesOf lists the rungs, of many the first and the last.
func valuesOf(l plan.Ladder) string {
	const most = 12
	var out []string
	for _, r := range l.Rungs[:min(len(l.Rungs), most)] {
		out = append(out, plainly(r.Value))
	}
	if n := len(l.Rungs); n > most {
		out = append(out, "…", plainly(l.Rungs[n-1].Value), fmt.Sprintf("(%d rungs)", n))
	}
	return strings.Join(out, " ")
}

// plainly is a number without an exponent, as far as a column has room for it.
func plainly(x float64) string {
	if s := strconv.FormatFloat(x, 'f', -1, 64); len(s) <= 7 {
		return s
	}
	return fmt.Sprintf("%.4g", x)
}

// roundsOf says how many rounds of how many requests there are at a rung, in a pass.
func roundsOf(rungs []plan.Rung) string {
	rounds := span(rungs, func(r plan.Rung) int { return r.Rounds })
	what := span(rungs, func(r plan.Rung) int { return r.Requests })
	if len(rungs) > 0 && rungs[0].Duration > 0 {
		what = rungs[0].Duration.String()
	}
	if rounds == "1" {
		return "1 round of " + what
	}
	return rounds + " rounds of " + what
}

// span is a number of each rung, or from which to which it goes.
func span(rungs []plan.Rung, of func(plan.Rung) int) string {
	if len(rungs) == 0 {
		return "0"
	}
	least, most := of(rungs[0]), of(rungs[0])
	for _, r := range rungs {
		least, most = min(least, of(r)), max(most, of(r))
	}
	if least == most {
		return strconv.Itoa(least)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

// shapeOf says what is fixed beside the axis.
func shapeOf(l plan.Ladder) string {
	if len(l.Rungs) == 0 {
		return ""
	}
	s := l.Rungs[0].Shape
	fixed := func(a plan.Axis, n int) bool { return l.Axis != a && n > 1 }
	return commas(
		when(fixed(plan.AxisBatch, s.Batch), "batch %d", s.Batch),
		when(l.Axis == plan.AxisRate, "at most %d in flight", s.InFlight),
		when(l.Axis != plan.AxisRate && fixed(plan.AxisConcurrency, s.InFlight), "%d in flight", s.InFlight),
		when(l.Axis != plan.AxisInputTokens && len(l.Prompt.Mix) == 0, "%d tokens in", s.InputTokens),
		when(l.Axis != plan.AxisOutputTokens && s.OutputTokens > 0, "%d out", s.OutputTokens),
	)
}

// stopWords says how a rule of stopping differs from the default; "" where it does not.
func stopWords(s plan.Stop) string {
	d := plan.DefaultStop()
	p95, drop := s.P95OverBaseline != nil, s.ThroughputDrop != nil
	out := commas(
		when(!slices.Equal(s.Outcomes, d.Outcomes), "at once by %s", strings.Join(s.Outcomes, " ")),
		when(s.FailureRatio != d.FailureRatio, "by more than %g of the requests failed", s.FailureRatio),
		when(s.ConfirmRounds != d.ConfirmRounds, "%s to confirm", plural(s.ConfirmRounds, "round")),
	)
	if p95 {
		out = commas(out, fmt.Sprintf("by a P95 over %g times the baseline's", *s.P95OverBaseline))
	}
	if drop {
		out = commas(out, fmt.Sprintf("by a throughput %g %% below the best", 100**s.ThroughputDrop))
	}
	return commas(out, when((p95 || drop) && s.MinRequests != d.MinRequests, "from %s on", plural(s.MinRequests, "request")))
}

// promptWords says what a prompt is beside its length; "" where there is nothing.
func promptWords(p plan.Prompt, api plan.API) string {
	output := "output as long as asked at most"
	if p.Exact {
		output = "output exactly as long as asked"
	}
	streamed := "not streamed"
	if p.Stream {
		streamed = "streamed"
	}
	return commas(
		when(p.TextFile != "", "text of %s", p.TextFile),
		when(p.Kind != "", "kind %q", p.Kind),
		mixWords(p.Mix),
		when(p.Reuse == plan.Same, "the same in all requests"),
		when(p.Reuse == plan.Pool, "one of %d in each request", p.Pool),
		when(api.Generates(), "%s, temperature %g, %s", output, p.Temperature, streamed),
	)
}

func mixWords(mix []plan.Share) string {
	var out []string
	for _, m := range mix {
		out = append(out, fmt.Sprintf("%d tokens in %.3g %%", m.Tokens, 100*m.Share))
	}
	return commas(out...)
}

// kneeWords is the rule by which the report will pick the best rung, with what it
// rests on.
func kneeWords(k plan.Knee) string {
	return k.Rule + " " + map[string]string{
		"power":          fmt.Sprintf("(elasticity %g, tie %g, P95 rise %g)", k.Elasticity, k.Tie, k.P95Rise),
		"half_increment": fmt.Sprintf("(factor %g, flat %g, P95 rise %g)", k.Factor, k.Flat, k.P95Rise),
		"gain_and_p95":   fmt.Sprintf("(gain %g, flat %g, P95 over the baseline's %g)", k.Gain, k.Flat, k.P95OverBaseline),
	}[k.Rule]
}

func sloWords(s plan.SLO) string {
	return commas(when(s.Latency > 0, "latency %s", s.Latency), when(s.TTFT > 0, "ttft %s", s.TTFT), when(s.TPOT > 0, "tpot %s", s.TPOT))
}

func rollbackWords(r plan.Rollback) string {
	out := commas(when(len(r.Outcomes) > 0, "by %s", strings.Join(r.Outcomes, " ")), when(r.P95 > 0, "P95 above %s", r.P95))
	if r.TimeoutRatio != nil {
		out = commas(out, fmt.Sprintf("more than %g of the requests timed out", *r.TimeoutRatio))
	}
	if r.CapShare != nil {
		out = commas(out, fmt.Sprintf("batch at its cap in %g of the samples", *r.CapShare))
	}
	return out
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}
