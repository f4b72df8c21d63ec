package results

import (
	"fmt"
	"slices"
	"strings"

	"rung/sinks/record"
	"rung/spec/plan"
)

// notice collects what a reader must know before any figure; odd is how many rows
// were left out because their times cannot be.
func (rep *Report) notice(r *Run, odd int) {
	say := func(format string, args ...any) { rep.Notices = append(rep.Notices, fmt.Sprintf(format, args...)) }
	rep.unfinished(r, say)
	resumed(r, say)
	if by := rep.SimulatedBy; by != "" {
		say("Simulated: %s.", by)
	}
	if c := r.Manifest.Canary; c != nil {
		var at []string
		for _, l := range c.Limits {
			at = append(at, fmt.Sprintf("%s %g", l.Ladder, l.Value))
		}
		say("A canary: each ladder was held at the limit of run %s alone (%s), so that none has a knee.", c.RunID, strings.Join(at, ", "))
	}
	if rep.Rules != r.Plan.Analysis {
		say("These are not the rules that the run declared: they were chosen after the data.")
	}
	if odd > 0 {
		say("%s left out: their times cannot be.", count(odd, "row was", "rows were"))
	}
	for i := range rep.Ladders {
		rep.Ladders[i].notice(say)
	}
	if f := rep.Baseline.Warmups; len(f) > 0 {
		say("Baseline: %s failed (%s).", count(total(f), "warm-up", "warm-ups"), listed(f))
	}
	if rep.Baseline.Noisy {
		say("Baseline %s.", rep.Baseline.Verdict)
	}
	if s := rep.Baseline.Others; s != "" {
		say("%s.", upper(s))
	}
	if l := oneWalk(rep.Ladders); len(l) > 0 {
		say("One walk up in %s: drift is unseen, and no confidence is given.", strings.Join(l, ", "))
	}
	why := r.Manifest.GPU.Reason
	if rep.Memory.Reason != "" && len(r.Samples) == 0 {
		say("%s.", upper(noGPU))
	}
	for _, e := range sortedEvents(r.Events) {
		if e.Kind == record.GPULost {
			say("The GPU was lost to the sampler at %.1f s: %s.", e.TS, e.Reason)
		}
		if e.Kind == record.MetricsLost {
			say("The server's metrics could not be read from %.1f s on: %s.", e.TS, e.Reason)
		}
		if e.Kind == record.MetricsBack {
			say("The server's metrics were read again from %.1f s on.", e.TS)
		}
		if e.Kind == record.Warning && (why == "" || !strings.Contains(e.Reason, why)) {
			say("Warning at %.1f s: %s.", e.TS, e.Reason)
		}
	}
	logged(r.Events, say)
	if w := rep.Run.GPU.Warnings; w != "" {
		say("GPU: %s.", w)
	}
}

// notice says what makes a ladder's figures other than they look.
func (l *Ladder) notice(say func(string, ...any)) {
	if at, why := l.refused(); at != "" {
		say("Ladder %q at %s: every round was refused (%s), so nothing is known there.", l.Name, at, why)
	}
	if l.NotRising != "" {
		say("Ladder %q: its rungs do not rise (%s), so a knee is not defined.", l.Name, l.NotRising)
	}
	for _, r := range l.Rungs {
		if r.ClientLimited {
			say("Ladder %q at %g measured the client, not the server (client_limited).", l.Name, r.Value)
		}
	}
	if n, names, at := l.belowStop(); n > 0 {
		say("Ladder %q: %s failed without meeting the stop rule (%s), at %s.", l.Name, count(n, "request", "requests"), names, at)
	}
	for _, u := range l.Warmups {
		at := l.at(&u.Value)
		if u.Stops && (at == nil || at.Failed == "") { // else the edge says as much
			say("Ladder %q at %g: %s failed (%s), and no stop rule looks at warm-ups: the server may not bear this rung, whatever its rounds say.",
				l.Name, u.Value, count(total(u.Failures), "warm-up", "warm-ups"), listed(u.Failures))
		}
	}
	for _, r := range l.Rungs {
		if r.Steady != nil && r.Steady.Verdict == NotSteady && (l.Edge == nil || r.Index < l.Edge.Index) {
			say("Ladder %q at %g is not steady in %d of %s (%s).", l.Name, r.Value, r.Steady.Moved, count(r.Steady.Passes, "pass", "passes"), r.Steady.How)
		}
	}
	if l.Limit.Check == NotConfirmed {
		say("Ladder %q: the limit is %s.", l.Name, l.Limit.Checked)
	}
	for _, m := range l.Met {
		m.notice(l.Name, say)
	}
	if s := l.lengths(); s != "" {
		say("Ladder %q: %s.", l.Name, s)
	}
	if c := l.Cache; c != nil && !c.Expected {
		most := ""
		if c.Most > differ*c.Share {
			most = fmt.Sprintf(" (%s at %g)", percent(c.Most), c.MostAt)
		}
		say("Ladder %q: the server took %s of the prompt tokens from its cache%s: a cache moves a knee, and fresh prompts may find another.",
			l.Name, percent(c.Share), most)
	}
}

// refused names the rungs of which every round was refused, and why. Those that
// the client bound are named apart.
func (l *Ladder) refused() (at, why string) {
	var values []string
	for i := range l.Rungs {
		r := &l.Rungs[i]
		if !r.refused() || r.ClientLimited {
			continue
		}
		values = append(values, fmt.Sprintf("%g", r.Value))
		if why == "" {
			why = firstWords(r.Refused[0].Reason)
		}
	}
	return strings.Join(values, ", "), why
}

// belowStop counts the failures at rungs that did not meet the stop rule.
func (l *Ladder) belowStop() (n int, names, at string) {
	sum := map[string]int{}
	var values []string
	for _, r := range l.Rungs {
		if r.Failed != "" || len(r.Failures) == 0 {
			continue
		}
		values = append(values, fmt.Sprintf("%g", r.Value))
		for _, f := range r.Failures {
			sum[f.Name] += f.N
			n += f.N
		}
	}
	return n, listed(byName(sum)), strings.Join(values, ", ")
}

// lengths says where answers were not as long as asked, and whether that makes
// one rung other work than the next; "" where all are alike.
func (l *Ladder) lengths() string {
	var short []string
	low, high, planned, shorter, answers := 0, 0, 0, 0, 0
	var least, most *Rung
	for i := range l.Rungs {
		r := &l.Rungs[i]
		o := r.Output
		if o == nil {
			continue
		}
		shorter, answers = shorter+o.Short, answers+o.N
		if o.Short > 0 {
			if len(short) == 0 {
				low, high = o.Min, o.Max
			}
			short = append(short, fmt.Sprintf("%g", r.Value))
			low, high, planned = min(low, o.Min), max(high, o.Max), max(planned, o.Planned)
		}
		if least == nil || o.Mean < least.Output.Mean {
			least = r
		}
		if most == nil || o.Mean > most.Output.Mean {
			most = r
		}
	}
	var out []string
	if len(short) > 0 {
		got := fmt.Sprint(high)
		if low < high {
			got = fmt.Sprintf("%d to %d", low, high)
		}
		s := fmt.Sprintf("%d of %d answers are shorter than asked, at %s (%s of %d tokens): throughput per received token", shorter, answers, strings.Join(short, ", "), got, planned)
		if high <= 0 {
			s = fmt.Sprintf("the answers at %s report 0 output tokens of %d asked, so there is no throughput and no knee", strings.Join(short, ", "), planned)
		}
		out = append(out, s)
	}
	if least != nil && l.Axis != plan.AxisOutputTokens && most.Output.Mean > differ*least.Output.Mean {
		out = append(out, fmt.Sprintf("outputs differ in length between rungs (%.4g tokens on average at %g, %.4g at %g), so the gain is not of load alone",
			least.Output.Mean, least.Value, most.Output.Mean, most.Value))
	}
	return strings.Join(out, "; ")
}

// differ is the ratio of two rungs' figures above which they are not the same
// work.
const differ = 1.01

// unfinished says how a run fell short and what is missing from it.
func (rep *Report) unfinished(r *Run, say func(string, ...any)) {
	switch rep.Run.Status {
	case record.Done:
		return
	case record.Running:
		say("The run has not ended: it runs still, or it was killed.")
	case record.Failed:
		say("The run failed: %s.", strings.TrimSuffix(rep.Run.Error, "."))
	case record.InterruptedStatus:
		say("The run was interrupted.")
	default:
		say("The run's status is %q, which this rung does not know.", rep.Run.Status)
	}
	if r.Unverified {
		say("What its parts and its journal hold is shown here, and no manifest vouches for it; rounds without a verdict count nowhere. `rung run SPEC --resume RUN` goes on with it.")
	}
	for _, l := range rep.Ladders {
		if len(l.Rungs) == 0 {
			say("Ladder %q: nothing was measured (%s).", l.Name, l.Ended)
			continue
		}
		for _, m := range l.Missing {
			say("Ladder %q, %s.", l.Name, m)
		}
	}
}

// resumed says when a run that had stopped went on. No figure has the gap in it: rates
// are of rounds, and a round that was cut short was sent again.
func resumed(r *Run, say func(string, ...any)) {
	for _, e := range sortedEvents(r.Events) {
		if e.Kind == record.Resumed {
			say("The run was resumed at %.1f s: %s. No figure has that gap in it; the server may have been another one since.", e.TS, e.Reason)
		}
	}
	for _, m := range r.Manifest.Resumes {
		if len(m.Changed) > 0 {
			say("When it was resumed, not all was as before: %s.", strings.Join(m.Changed, "; "))
		}
	}
}

// oneWalk names the ladders with a knee that were planned with a single pass.
func oneWalk(ladders []Ladder) []string {
	var out []string
	for _, l := range ladders {
		if l.PassesAsked == 1 && l.Axis.HasKnee() && len(l.Rungs) > 0 {
			out = append(out, fmt.Sprintf("%q", l.Name))
		}
	}
	return out
}

// mostLogged bounds the lines of the server's log that are shown.
const mostLogged = 3

// logged shows what the server's log said of its memory, its faults and its settings.
func logged(events []record.Event, say func(string, ...any)) {
	n := 0
	for _, e := range sortedEvents(events) {
		switch e.Kind {
		case record.LogOOM, record.LogFault, record.LogSetting:
			if n++; n <= mostLogged {
				say("The server's log at %.1f s: %s.", e.TS, strings.TrimSuffix(e.Reason, "."))
			}
		default:
		}
	}
	if n > mostLogged {
		say("The server's log has %s of the kind; the table events has them.", count(n-mostLogged, "more line", "more lines"))
	}
}

func sortedEvents(events []record.Event) []record.Event {
	m := memory{events: slices.Clone(events)}
	m.sort()
	return m.events
}
