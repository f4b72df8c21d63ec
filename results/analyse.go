package results

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"rung/sinks/record"
	"rung/spec/plan"
)

// Analyse says what a run shows by the given rules. It is a pure function: equal
// rows in any order give an equal report. The rules are the plan's own unless one
// wants to see what others would have said, and then the report says so.
func Analyse(r *Run, rules plan.Analysis) *Report {
	rep, _ := analyse(r, rules)
	return rep
}

// analyse gives the ladders with their rows beside the report.
func analyse(r *Run, rules plan.Analysis) (*Report, []*walked) {
	r, odd := r.sound()
	all := r.attempts()
	begun(all, r.Events)
	cell := r.cell()
	rep := newReport(r, rules)
	rep.Baseline = newBaseline(cell.Baseline, r.Plan.Target.API, all, rules.BaselineCheck)
	rep.Baseline.energy(r, all)
	rep.Baseline.others(r, all)
	m, mem := newMemory(r)
	m.baseline(&rep.Baseline)

	page, card := readings(r.Metrics), newWatched(r, mem.Device)
	client := slices.SortedFunc(slices.Values(r.Client), func(a, b record.ClientSample) int { return cmp.Compare(a.TS, b.TS) })
	rep.Metrics = newMetrics(r, page)
	var ladders []*walked
	for i, l := range cell.Ladders {
		w := newWalked(l, r, all, rules)
		w.measure(r.Manifest.Server.TemplateExtra)
		w.watch(page, card, client)
		w.findEdge(w.slow(r.Plan.Target.API, single(all)))
		w.findBends(rep.Baseline)
		m.ladder(w.out, i == 0)
		w.findLimit(rep.Baseline)
		ladders = append(ladders, w)
	}
	m.upFront = m.preallocated(ladders)
	mem.Headroom, mem.Preallocated = m.headroom(rules.Headroom, ladders, page), m.upFront
	mem.Slopes, mem.Says = m.slopes(ladders, attached(r, cell))
	rep.Memory = mem
	rep.Checks = m.checks(cell, all, ladders, rules.Headroom)
	for _, w := range ladders {
		w.diagnose(m, unwatched(rep, card))
		w.bottleneck()
		w.onsets(rep.Baseline, m, page)
		w.out.checked(rep.Checks)
		w.steady(r.Manifest.Server.MaxConcurrent)
		w.out.Missing, w.out.Histogram = w.missing(), w.histogram()
		w.mark()
		w.find()
		w.advise(m, ladders, rules)
		rep.Ladders = append(rep.Ladders, *w.out)
	}
	rep.Equal, rep.Timeline = equals(ladders), timeline(r, card, page)
	rep.Settings = rep.settings(r, ladders)
	rep.Configs = rep.configs(r.Plan.Configs)
	rep.Client = newInstrument(r)
	rep.Client.near(ladders)
	rep.notice(r, odd)
	rep.Invalid = rep.invalid(r)
	rep.Verdict = verdict(rep)
	sweep(reflect.ValueOf(rep))
	return rep, ladders
}

// newReport has what needs no rows.
func newReport(r *Run, rules plan.Analysis) *Report {
	rep := &Report{
		Version: Version, SimulatedBy: simulatedBy(r), Run: header(r), Rules: rules, SLO: r.Plan.SLO, Rollback: r.Plan.Rollback, Spec: r.Spec,
		Notices: []string{}, Ladders: []Ladder{},
	}
	rep.Simulated = r.Manifest.Simulated || rep.SimulatedBy != ""
	return rep
}

// findBends finds how a ladder ends and where it bends, whatever its axis has.
func (w *walked) findBends(b Baseline) {
	w.findShape()
	w.findKnee(b)
	w.findCapacity()
	w.latencySlope()
}

// attached says that the server was there before the run, and may have had load.
func attached(r *Run, cell plan.Cell) bool {
	return !r.Manifest.Simulated && (cell.Server == nil || len(cell.Server.Command) == 0)
}

// simulatedBy says what gives a simulated server away in a run that did not start
// it itself: its own name for itself, or that of the card.
func simulatedBy(r *Run) string {
	const word = "simulated"
	if r.Manifest.Simulated {
		return ""
	}
	if s := r.Manifest.Server.Software; strings.HasPrefix(strings.ToLower(s), "rung "+word) {
		return "the server calls itself " + s
	}
	for _, g := range r.Manifest.GPUs {
		if strings.HasPrefix(strings.ToLower(g.Name), word) || g.Driver == word {
			return "the GPU is called " + cmp.Or(g.Name, g.Driver)
		}
	}
	if slices.ContainsFunc(r.Samples, func(s record.Sample) bool { return s.MemCall == word }) {
		return "the GPU's samples are of a model"
	}
	return ""
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
		Counts: record.Counts{Requests: int64(r.Requests.Len()), Samples: int64(len(r.Samples)), Events: int64(len(r.Events)), Server: int64(len(r.Metrics))},
	}
	for k, n := range r.Requests.Kinds() {
		if k.Counted {
			h.Counts.Counted += int64(n)
		}
		if k.Failed() {
			h.Counts.Failed += int64(n)
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
	if l.Capacity != nil {
		put(l.Capacity.Value, MarkCapacity)
	}
	put(l.Knee.Best, MarkBest)
	put(l.Knee.Knee, MarkKnee)
	put(l.Boundary, MarkBoundary)
	if l.Edge != nil {
		put(&l.Edge.Value, MarkEdge)
	}
}
