package render

import (
	"fmt"
	"strings"

	"rung/results"
)

// validity says what was refused and why, how often the ladders were walked, what the
// checks of the limits came to, and how the instrument itself did.
func validity(rep *results.Report) []string {
	var out []string
	for i := range rep.Ladders {
		if l := &rep.Ladders[i]; len(l.Rungs) > 0 {
			out = append(out, walks(l))
		}
	}
	for i := range rep.Ladders {
		out = append(out, refused(&rep.Ladders[i])...)
	}
	for _, f := range rep.Baseline.Refused {
		out = append(out, fmt.Sprintf("Baseline: %s refused: %s.", plural(f.Attempts, "attempt", "attempts"), f.Shown()))
	}
	for _, c := range rep.Checks {
		out = append(out, check(c))
	}
	return append(out, instrument(rep)...)
}

// walks is how often a ladder was planned to be walked, and was.
func walks(l *results.Ladder) string {
	s := fmt.Sprintf("Ladder %q: %s planned, %d whole", l.Name, plural(l.PassesAsked, "pass", "passes"), l.PassesDone)
	if l.Edge != nil {
		s += " below the edge"
	}
	if len(l.NotWalked) > 0 {
		s += fmt.Sprintf("; not walked: %s", values(l.NotWalked))
	}
	return s + "."
}

// refused are the rounds of a ladder that do not count, and what else was off.
func refused(l *results.Ladder) []string {
	var out []string
	for _, r := range l.Rungs {
		for _, f := range r.Refused {
			out = append(out, fmt.Sprintf("Ladder %q at %s: %s refused: %s.", l.Name, value(r.Value), plural(f.Attempts, "round", "rounds"), f.Shown()))
		}
		if r.LostRounds > 0 {
			out = append(out, fmt.Sprintf("Ladder %q at %s: %s out for good.", l.Name, value(r.Value), plural(r.LostRounds, "round stays", "rounds stay")))
		}
	}
	for _, u := range l.Warmups {
		out = append(out, fmt.Sprintf("Ladder %q at %s: %d of %s failed, %s.", l.Name, value(u.Value), count(u.Failures), plural(u.Sent, "warm-up", "warm-ups"), failed(u.Failures)))
	}
	if c := l.Cache; c != nil {
		text := fmt.Sprintf("Ladder %q: %d of %d prompt tokens came from the server's cache (%.3g %%)", l.Name, c.CachedTokens, c.PromptTokens, 100*c.Share)
		if c.Expected {
			text += ", no more of any request than the chat template that all share"
		}
		out = append(out, text+".")
	}
	return out
}

// check is what a retest or the confirmation showed.
func check(c results.Check) string {
	s := "Confirmation of all limits at once"
	if c.Kind == results.CheckRetest {
		s = fmt.Sprintf("Retest of ladder %q", c.Ladder)
		if c.Value != nil {
			s += " at " + value(*c.Value)
		}
	}
	var at []string
	if c.Sent > 0 {
		at = append(at, fmt.Sprintf("batch %d, %d in flight", c.Shape.Batch, c.Shape.InFlight))
	}
	at = append(at, fmt.Sprintf("%d tokens an input", c.Shape.InputTokens))
	if c.Shape.OutputTokens > 0 {
		at = append(at, fmt.Sprintf("%d output tokens", c.Shape.OutputTokens))
	}
	s += fmt.Sprintf(" (%s, %s): %s, %s", strings.Join(at, ", "), c.Text, c.Verdict, c.Reason)
	if l := c.Latency; l != nil {
		s += fmt.Sprintf("; n %d, median %s s, P95 %s s", l.N, seconds(l.MedianS), seconds(l.P95S))
		if !l.P95Supported {
			s += fmt.Sprintf(" (%s)", unsupported("P95", []int{l.N}, results.P95Needs))
		}
	}
	if len(c.Failures) > 0 {
		s += "; failed " + failed(c.Failures)
	}
	if len(c.Warmups) > 0 {
		s += "; failed warm-ups " + failed(c.Warmups)
	}
	if c.PeakBytes != nil {
		s += fmt.Sprintf("; peak memory %s GiB (%s)", gib(*c.PeakBytes), plural(c.PeakSamples, "sample", "samples"))
		if c.AfterHighWater {
			s += ", after high water: earlier load had taken as much already"
		}
	}
	return s + "."
}

// instrument is what the client did beside measuring, and how fast it can be.
func instrument(rep *results.Report) []string {
	var out []string
	c := rep.Client
	for _, r := range c.Restarts {
		s := fmt.Sprintf("The server was started again at %.1f s", r.TS)
		if r.Before != "" {
			s += fmt.Sprintf(", before ladder %q", r.Before)
		}
		s += fmt.Sprintf(" (%s)", r.Reason)
		if r.Failed != "" {
			s += ", and was not ready: " + r.Failed
		}
		out = append(out, s+".")
	}
	for _, s := range c.Settles {
		out = append(out, fmt.Sprintf("Ladder %q at %s: the card did not come back to what it was in the idle time, %s (%s).",
			s.Ladder, values(s.Values), plural(s.Times, "time", "times"), s.Reason))
	}
	switch f := c.Floor; {
	case f != nil:
		out = append(out, fmt.Sprintf("Self-check of the client: %s requests/s with %d in flight, P95 %s, against a server on this machine that answers at once.",
			digits(f.RatePerS), f.InFlight, span(f.P95S)))
	case c.Unchecked != "":
		out = append(out, fmt.Sprintf("No self-check of the client: %s.", c.Unchecked))
	}
	out = append(out, near(c.Near)...)
	if c.MaxCPUPct != nil && c.MaxStallS != nil {
		out = append(out, fmt.Sprintf("Client: at most %.0f %% of its processor time, its longest stall %s (%s).", *c.MaxCPUPct, span(*c.MaxStallS), plural(c.Samples, "sample", "samples")))
	}
	for _, s := range c.ClockSteps {
		out = append(out, upper(s)+".")
	}
	if c.ResetIdle > 0 {
		out = append(out, fmt.Sprintf("%s a connection that the server had closed while it lay idle, and went out again: they are in no figure.",
			plural(c.ResetIdle, "request met", "requests met")))
	}
	return out
}

// near says in one line a ladder which rungs came close to what the client can do.
func near(all []results.Near) []string {
	var out []string
	for i := 0; i < len(all); {
		var at []float64
		j := i
		for ; j < len(all) && all[j].Ladder == all[i].Ladder; j++ {
			at = append(at, all[j].Value)
		}
		out = append(out, fmt.Sprintf("Ladder %q came within a factor of two of the client itself at %s: at %s %s.", all[i].Ladder, values(at), value(all[i].Value), all[i].How))
		i = j
	}
	return out
}

// upper begins a text of ASCII with a capital.
func upper(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func values(v []float64) string {
	out := make([]string, len(v))
	for i := range v {
		out[i] = value(v[i])
	}
	return strings.Join(out, ", ")
}
