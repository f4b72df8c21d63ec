package results

import (
	"fmt"
	"slices"
	"strings"

	"rung/sinks/record"
	"rung/spec/plan"
)

// Analyse says what a run shows by the given rules. It is a pure function: equal
// rows in any order give an equal report. The rules are the plan's own unless one
// wants to see what others would have said, and then the report says so.
func Analyse(r *Run, rules plan.Analysis) *Report {
	all := attempts(r.Requests)
	cell := r.cell()
	rep := &Report{
		Version: Version, Simulated: r.Manifest.Simulated, Run: header(r), Rules: rules, Spec: r.Spec,
		Notices: []string{}, Ladders: []Ladder{},
	}
	rep.Baseline = newBaseline(cell.Baseline, r.Plan.Target.API, all, rules.BaselineCheck)
	m, mem := newMemory(r)
	m.baseline(&rep.Baseline, mem.Reason)

	var ladders []*walked
	for i, l := range cell.Ladders {
		w := newWalked(l, r, all, rules)
		w.measure()
		w.findEdge()
		w.findKnee()
		m.ladder(w.out, i == 0, mem.Reason)
		w.findLimit(rep.Baseline)
		ladders = append(ladders, w)
	}
	mem.Headroom = m.headroom(rules.Headroom, ladders, mem.Reason)
	rep.Memory = mem
	for _, w := range ladders {
		w.out.Missing = w.missing()
		w.mark()
		w.find()
		rep.Ladders = append(rep.Ladders, *w.out)
	}
	rep.notice(r)
	rep.Verdict = verdict(rep)
	return rep
}

func header(r *Run) Header {
	m := r.Manifest
	h := Header{
		Dir: r.Dir, Experiment: m.Experiment, Description: r.Plan.Description, RunID: m.RunID, Cell: m.Cell,
		Status: m.Status, Error: m.Error, Began: m.Began, Ended: m.Ended,
		SpecHash: m.SpecHash, WorkloadHash: m.WorkloadHash, PlanDigest: m.PlanDigest, Seed: m.Seed,
		Variables: m.Variables, Git: m.Git, Rung: m.Rung,
		API: r.Plan.Target.API, URL: r.Plan.Target.URL, Model: r.Plan.Target.Model,
		Host: m.Host, Server: m.Server, GPUs: m.GPUs, GPU: m.GPU,
		Counts: record.Counts{Requests: int64(len(r.Requests)), Samples: int64(len(r.Samples)), Events: int64(len(r.Events))},
	}
	for _, q := range r.Requests {
		if q.Counted {
			h.Counts.Counted++
		}
		if q.Outcome.ServerFailure() {
			h.Counts.Failed++
		}
	}
	return h
}

// mark names what each rung is to its ladder.
func (w *walked) mark() {
	l := w.out
	put := func(value *float64, m Mark) {
		if r := l.at(value); r != nil {
			r.Marks = append(r.Marks, m)
		}
	}
	put(l.Limit.Value, MarkLimit)
	put(l.Knee.Best, MarkBest)
	put(l.Knee.Knee, MarkKnee)
	put(l.Boundary, MarkBoundary)
	if l.Edge != nil {
		put(&l.Edge.Value, MarkEdge)
	}
}

// notice collects what a reader must know before any figure.
func (rep *Report) notice(r *Run) {
	say := func(format string, args ...any) { rep.Notices = append(rep.Notices, fmt.Sprintf(format, args...)) }
	rep.unfinished(r, say)
	if rep.Rules != r.Plan.Analysis {
		say("These are not the rules that the run declared: they were chosen after the data.")
	}
	if rep.Baseline.Noisy {
		say("Baseline %s.", rep.Baseline.Verdict)
	}
	if l := oneWalk(rep.Ladders); len(l) > 0 {
		say("One walk up in %s: drift is unseen, and no confidence is given.", strings.Join(l, ", "))
	}
	for _, l := range rep.Ladders {
		for _, rung := range l.Rungs {
			if rung.ClientLimited {
				say("Ladder %q at %g measured the client, not the server (client_limited).", l.Name, rung.Value)
			}
		}
	}
	for _, e := range sortedEvents(r.Events) {
		if e.Kind == record.GPULost {
			say("The GPU was lost to the sampler at %.1f s: %s.", e.TS, e.Reason)
		}
		if e.Kind == record.Warning {
			say("Warning at %.1f s: %s.", e.TS, e.Reason)
		}
	}
	if w := rep.Run.GPU.Warnings; w != "" {
		say("GPU: %s.", w)
	}
}

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
		say("Its parts are not listed, so they could not be verified; the rows of the part that was open are lost.")
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

// oneWalk names the ladders with a knee that were planned with a single pass.
func oneWalk(ladders []Ladder) []string {
	var out []string
	for _, l := range ladders {
		if l.PassesAsked == 1 && l.Axis.HasKnee() {
			out = append(out, fmt.Sprintf("%q", l.Name))
		}
	}
	return out
}

func sortedEvents(events []record.Event) []record.Event {
	m := memory{events: slices.Clone(events)}
	m.sort()
	return m.events
}
