package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"time"

	"rung/results"
	"rung/runner"
	"rung/sinks/parquet"
	"rung/sinks/record"
	"rung/spec"
	"rung/spec/plan"
)

// resumed is a run that is to go on: what it recorded so far.
type resumed struct {
	dir      string
	run      *results.Run
	requests []record.Request // whole, in the order of writing
}

// openResumed reads the run that is to go on and refuses one that has ended, that another
// process writes to, or that is not of this spec.
func (a *app) openResumed(path string, res spec.Result, simulated bool) (*resumed, error) {
	dir, err := a.latestRun(path)
	if err != nil {
		return nil, err
	}
	if err := parquet.Busy(dir); err != nil {
		return nil, failed(err)
	}
	run, err := results.Open(dir)
	if err != nil {
		return nil, failed(err)
	}
	m := run.Manifest
	switch {
	case m.Status == record.Done && !run.Unverified:
		return nil, usage("%s has ended, and there is nothing to resume; run the spec again for another run", dir)
	case m.Simulated != simulated:
		return nil, usage("%s was%s run on the simulated server: resume it the same way", dir, map[bool]string{false: " not"}[m.Simulated])
	case m.SpecHash != res.Plan.SpecHash || m.PlanDigest != res.Plan.Digest():
		return nil, usage("%s is not a run of this spec: %s.\nWhat was measured under one plan can't go on under another: run the spec anew, or resume with the spec as it was (%s/spec.hcl)",
			dir, changedPlan(m.Plan, res.Plan), dir)
	}
	if m.Status == record.Running && !parquet.HasJournal(dir) {
		return nil, usage("%s was killed under a version of rung that kept no journal: it can be reported, and not resumed", dir)
	}
	requests, err := parquet.ReadRequests(dir, m)
	if err != nil {
		return nil, failed(err)
	}
	return &resumed{dir: dir, run: run, requests: requests}, nil
}

// cell is the run's, as --cell would name it.
func (r *resumed) cell() []string {
	if r.run.Manifest.Cell == "" {
		return nil
	}
	return []string{r.run.Manifest.Cell}
}

// changedPlan says in what the plan of a spec is not that of a run.
func changedPlan(was json.RawMessage, is plan.Plan) string {
	now, err := json.Marshal(is)
	if err != nil {
		return err.Error()
	}
	const most = 8
	changes := changes(was, now)
	changes = slices.DeleteFunc(changes, func(c change) bool { return c.path == "spec_hash" || c.path == "format" })
	var b bytes.Buffer
	b.WriteString("the spec has changed")
	for i, c := range changes {
		if i == most {
			fmt.Fprintf(&b, "\n  and %d more", len(changes)-most)
			break
		}
		fmt.Fprintf(&b, "\n  %s: %s, now %s", c.path, c.was, c.is)
	}
	if len(changes) == 0 {
		return "a sensitive value or the version of rung has changed"
	}
	return b.String()
}

// change is a value that differs between two JSON documents.
type change struct{ path, was, is string }

// changes lists the values in which two JSON documents differ, by their paths.
func changes(was, is []byte) []change {
	a, b := flat(was), flat(is)
	var out []change
	for path, v := range a {
		if b[path] != v {
			out = append(out, change{path, shortened(v), shortened(b[path])})
		}
	}
	for path, v := range b {
		if _, ok := a[path]; !ok {
			out = append(out, change{path, "not there", shortened(v)})
		}
	}
	sort.Slice(out, func(i, j int) bool { return out[i].path < out[j].path })
	return out
}

// shortened is a value for a line of text.
func shortened(v string) string {
	const most = 60
	if v == "" {
		return "not there"
	}
	if r := []rune(v); len(r) > most {
		return string(r[:most]) + "…"
	}
	return v
}

// flat gives the values of a JSON document by their paths.
func flat(doc []byte) map[string]string {
	out := map[string]string{}
	var v any
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if d.Decode(&v) == nil {
		flatten("", v, out)
	}
	return out
}

func flatten(path string, v any, out map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			inner := name
			if path != "" {
				inner = path + "." + name
			}
			flatten(inner, e, out)
		}
	case []any:
		for i, e := range v {
			flatten(fmt.Sprintf("%s[%d]", path, i), e, out)
		}
	default:
		b, err := json.Marshal(v)
		if err == nil {
			out[path] = string(b)
		}
	}
}

// past is what the runner needs of a run that goes on.
func (r *resumed) past(now time.Time) *runner.Past {
	if r == nil {
		return nil
	}
	return &runner.Past{Requests: r.requests, Events: r.run.Events, Idle: idleOf(r.run), Elapsed: now.Sub(r.run.Manifest.Began)}
}

// events are those of the run so far; none where it begins.
func (r *resumed) events() []record.Event {
	if r == nil {
		return nil
	}
	return r.run.Events
}

// idleOf are the last samples of each card in the baseline's idle time.
func idleOf(r *results.Run) []record.Sample {
	from, to, ended := 0.0, 0.0, false
	for _, e := range r.Events {
		switch e.Kind {
		case record.IdleBegin:
			from = e.TS
		case record.IdleEnd:
			to, ended = e.TS, true
		default:
		}
	}
	last := map[string]record.Sample{}
	for _, s := range r.Samples {
		if l, ok := last[s.UUID]; ended && s.TS >= from && s.TS <= to && (!ok || s.TS >= l.TS) {
			last[s.UUID] = s
		}
	}
	var out []record.Sample
	for _, s := range last {
		out = append(out, s)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].UUID < out[j].UUID })
	return out
}

// reopen takes the run's folder up again: its journal becomes parts, and its manifest
// says that it runs, and what of its surroundings is not as it was.
func (j *job) reopen(log *lateWriter) (err error) {
	j.dir, j.manifest = j.resumed.dir, j.resumed.run.Manifest
	if j.writer, err = parquet.Reopen(j.dir, j.manifest, j.now); err != nil {
		return err
	}
	if err := j.openLog(log); err != nil {
		return err
	}
	m := &j.manifest
	r := record.Resume{At: j.now().UTC(), After: m.Status, Rung: release + revision(), Changed: []string{}}
	for _, c := range []struct {
		what    string
		was, is any
	}{{"host", m.Host, thisHost()}, {"server", m.Server, j.prepared.Server()}, {"gpus", m.GPUs, j.devices()}} {
		r.Changed = append(r.Changed, changed(c.what, c.was, c.is)...)
	}
	for _, c := range r.Changed {
		j.say("warning: not as it was before: %s", c)
	}
	m.Resumes = append(m.Resumes, r)
	m.Status, m.Error, m.Ended, m.Parts = record.Running, "", nil, []record.Part{}
	return parquet.WriteManifest(j.dir, *m)
}

// changed says in what two descriptions of one thing differ.
func changed(what string, was, is any) []string {
	a, errA := json.Marshal(was)
	b, errB := json.Marshal(is)
	if errors.Join(errA, errB) != nil {
		return nil
	}
	var out []string
	for _, c := range changes(a, b) {
		out = append(out, fmt.Sprintf("%s.%s: %s, now %s", what, c.path, c.was, c.is))
	}
	return out
}
