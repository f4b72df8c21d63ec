//go:build integration

package main

import (
	"fmt"
	"slices"
	"strings"

	"rung/runner/target"
	"rung/sinks/record"
)

// state is what became of a check.
type state string

const (
	passed      state = "passed"
	unsupported state = "unsupported" // by that server, which the evidence shows
	broken      state = "FAILED"
)

// result is a check with what it rests on.
type result struct {
	check    string
	state    state
	evidence string
}

// verdicts are the results of a server, in the order of the table.
type verdicts struct {
	server  string
	results []result
}

func (c conformed) check() verdicts {
	v := verdicts{server: c.subject.name}
	for _, check := range []struct {
		name string
		of   func() (state, string)
	}{
		{"discovery", c.discovery}, {"exact tokens", c.exactTokens}, {"ids or text", c.form}, {"batch", c.batch}, {"stream", c.stream},
		{"too long", c.tooLong}, {"bad model", c.anotherModel}, {"over capacity", c.overCapacity}, {"killed midway", c.killedMidway},
		{"slow start", c.slowStart}, {"metrics", c.pageOfMetrics},
	} {
		s, evidence := check.of()
		v.results = append(v.results, result{check.name, s, evidence})
	}
	return v
}

// verdict is passed where it is true.
func verdict(ok bool) state {
	if ok {
		return passed
	}
	return broken
}

func (c conformed) discovery() (state, string) {
	s := c.manifest.Server
	settings := ""
	for _, x := range s.Settings {
		if x.InForce != "" {
			settings += fmt.Sprintf(", %s %s (%s)", x.Name, x.InForce, x.Source)
		}
		if x.Differs {
			settings += " DIFFERS"
		}
	}
	return verdict(slices.Contains(s.Models, c.subject.model) && s.Software != ""), fmt.Sprintf("%s, model %s%s", strings.TrimSpace(s.Software+" "+s.Version), c.subject.model, settings)
}

func (c conformed) exactTokens() (state, string) {
	n, off := 0, 0
	for _, r := range c.rows {
		if !r.Counted || r.Outcome != record.OK {
			continue
		}
		n++
		if r.InputTokens == nil || *r.InputTokens != r.InputTokensPlanned || c.subject.chat && (r.OutputTokens == nil || *r.OutputTokens != 8) {
			off++
		}
	}
	return verdict(n >= 20 && off == 0), fmt.Sprintf("%d of %d counted requests have the planned tokens by the server's own count (%s)", n-off, n, c.usage())
}

// usage is where the server's count stands.
func (c conformed) usage() string {
	for _, r := range c.rows {
		if r.Counted {
			return "in the answer's " + string(r.UsageSource)
		}
	}
	return "none"
}

func (c conformed) form() (state, string) {
	s := c.manifest.Server
	how := "by " + s.Tokeniser
	if s.TemplateExtra > 0 {
		how += fmt.Sprintf(", %d of them the template's", s.TemplateExtra)
	}
	return verdict(s.InputForm == "ids" || s.InputForm == "text"), "sent as " + s.InputForm + ", counted " + how
}

func (c conformed) batch() (state, string) {
	if c.subject.chat {
		return unsupported, "a chat is one conversation: batching is the server's"
	}
	n, whole := 0, 0
	for _, r := range c.rows {
		if r.Ladder == "batch" && r.Inputs == 4 && r.Counted {
			n++
			if r.Outcome == record.OK && r.InputsDone == 4 {
				whole++
			}
		}
	}
	return verdict(n > 0 && n == whole), fmt.Sprintf("%d of %d requests of 4 inputs brought 4 vectors", whole, n)
}

func (c conformed) stream() (state, string) {
	if !c.subject.chat {
		return unsupported, "an embedding comes in one piece"
	}
	n, streamed, least := 0, 0, 1<<30
	for _, r := range c.rows {
		if r.Counted && r.Outcome == record.OK {
			n++
			if r.FirstTokenTS != nil && r.Chunks != nil && *r.Chunks > 1 && r.FinishReason != "" {
				streamed++
				least = min(least, *r.Chunks)
			}
		}
	}
	return verdict(n > 0 && n == streamed), fmt.Sprintf("%d of %d answers came in %d chunks and more, with a first token and a reason for their end", streamed, n, least)
}

func (c conformed) tooLong() (state, string) {
	for _, r := range c.rows {
		if r.Ladder != "length" || r.Value != float64(c.subject.over) {
			continue
		}
		said := target.Excerpt([]byte(r.Error), 160)
		switch {
		case r.Outcome == record.TooLong:
			return passed, fmt.Sprintf("%d tokens: status %d, limit %q: %s", c.subject.over, *r.Status, r.Limit, said)
		case r.Outcome == record.TokenMismatch && r.InputTokens != nil && *r.InputTokens < r.InputTokensPlanned:
			return unsupported, fmt.Sprintf("%d tokens: status %d and a count of %d: it cuts the text and says nothing; rung refused the round: %s", c.subject.over, *r.Status, *r.InputTokens, r.RejectReason)
		default:
			return broken, fmt.Sprintf("%d tokens: %s: %s", c.subject.over, r.Outcome, said)
		}
	}
	return broken, "no request was sent"
}

func (c conformed) anotherModel() (state, string) {
	for line := range strings.Lines(c.badModel) {
		if strings.Contains(line, `has no model "no-such-model"`) {
			return verdict(c.badExit == exitFailed), fmt.Sprintf("exit status %d: %s", c.badExit, target.Excerpt([]byte(line), 160))
		}
	}
	return broken, fmt.Sprintf("exit status %d: %s", c.badExit, target.Excerpt([]byte(c.badModel), 300))
}

func (c conformed) overCapacity() (state, string) {
	outcomes, ok, first := map[record.Outcome]int{}, 0, ""
	for _, r := range c.rows {
		switch {
		case r.Ladder != "capacity" || r.Value != 32 || r.ResetIdle: // which was sent again
		case r.Outcome == record.OK:
			ok++
		default:
			outcomes[r.Outcome]++
			if first == "" {
				status := "no status"
				if r.Status != nil {
					status = fmt.Sprintf("status %d", *r.Status)
				}
				first = status + ": " + target.Excerpt([]byte(r.Error), 120)
			}
		}
	}
	for _, o := range []record.Outcome{record.RateLimited, record.Overloaded, record.Unavailable} {
		if n := outcomes[o]; n > 0 {
			return passed, fmt.Sprintf("32 at once: %d served, %d %s: %s", ok, n, o, first)
		}
	}
	if len(outcomes) == 0 && ok > 0 {
		return unsupported, fmt.Sprintf("32 at once: all %d were served, %s", ok, c.most("waiting"))
	}
	return broken, fmt.Sprintf("%v, %s", outcomes, first)
}

// most is the greatest value that a series had.
func (c conformed) most(series string) string {
	most, found := 0.0, false
	for _, s := range c.server {
		if s.Series == series && s.Value != nil {
			most, found = max(most, *s.Value), true
		}
	}
	if !found {
		return "its page of metrics does not say how many waited"
	}
	return fmt.Sprintf("%g of them %s at once by its own page", most, series)
}

func (c conformed) killedMidway() (state, string) {
	edge, restarts, after := "", 0, 0
	for _, e := range c.events {
		switch {
		case e.Kind == record.EdgeFound && e.Ladder == "killed":
			edge = fmt.Sprintf("edge at %g: %s", e.Value, e.Reason)
		case e.Kind == record.RestartEnd && e.Reason == "":
			restarts++
		}
	}
	for _, r := range c.rows {
		if r.Ladder == "after" && r.Phase == record.Measure && r.Counted && r.Outcome == record.OK {
			after++
		}
	}
	named := strings.Contains(edge, "outcome reset") || strings.Contains(edge, "outcome refused")
	return verdict(named && restarts == 1 && after == 16), fmt.Sprintf("%s; started again %d times; %d of 16 requests of the next ladder", edge, restarts, after)
}

func (c conformed) slowStart() (state, string) {
	return verdict(c.waited > 0), fmt.Sprintf("it answered after %.1f s, and was asked until then", c.waited.Seconds())
}

func (c conformed) pageOfMetrics() (state, string) {
	var known []string
	readings := map[float64]bool{}
	for _, s := range c.server {
		readings[s.TS] = true
		if s.Series != s.Source && s.Source != "" && !slices.Contains(known, s.Series) {
			known = append(known, s.Series)
		}
	}
	slices.Sort(known)
	ok := len(known) > 0
	if strings.HasPrefix(c.subject.name, "vLLM") { // its queue, what runs, and its memory for tokens
		for _, want := range []string{"waiting", "running", "kv_usage"} {
			ok = ok && slices.Contains(known, want)
		}
	}
	return verdict(ok), fmt.Sprintf("%d readings: %s", len(readings), strings.Join(known, ", "))
}
