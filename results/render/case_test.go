package render_test

import (
	"strings"
	"testing"

	"rung/results/render"
	"rung/results/resultstest"
	"rung/sinks/record"
	"rung/spec/plan"
)

// P99 of 71 requests is next to the slowest of them: it is printed with what it takes.
func TestCase46(t *testing.T) {
	o := resultstest.Options{NoGPU: true, Ladders: []plan.Ladder{resultstest.Ladder("batch", plan.AxisBatch, 1, 1, 71, 1, 2, 4)}}
	rep := analyse(o.Run())
	l := rep.Ladders[0].Rungs[0].Latency
	if l.N != 71 || l.P99Supported || !l.P95Supported || l.P99S > l.MaxS || l.P99S < l.P95S {
		t.Errorf("%+v", l)
	}
	for _, name := range []string{"text", "markdown", "html"} {
		text := oneLine(t, forms()[name], rep)
		says(t, name, text, "P99 not supported by n=71 (needs 299)")
	}
	says(t, "JSON", oneLine(t, render.JSON, rep), `"p99_supported": false`)
	for i := range rep.Ladders[0].Rungs { // on 299 it is, and the mark is gone
		rep.Ladders[0].Rungs[i].Latency.P99Supported = true
	}
	if strings.Contains(oneLine(t, render.Text, rep), "not supported") {
		t.Error("a mark on a percentile that is supported")
	}
}

// What a server's queue refuses is told with what to look at, in every form.
func TestQueueIsNamedInEveryForm(t *testing.T) {
	o := resultstest.Options{NoGPU: true, Ladders: []plan.Ladder{resultstest.Ladder("concurrency", plan.AxisConcurrency, 1, 1, 40, 16, 32, 64)}}
	o.Fails = func(s plan.Shape) (record.Outcome, int) {
		if s.InFlight == 64 {
			return record.Overloaded, 4
		}
		return record.OK, 0
	}
	for name, f := range forms() {
		says(t, name, oneLine(t, f, analyse(o.Run())), "max-concurrent-requests")
	}
}
