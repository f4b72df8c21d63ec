package results_test

import (
	"testing"

	"rung/results"
	"rung/results/resultstest"
	"rung/spec/plan"
)

// BenchmarkAnalyse reports a run of a million requests, with its server's page and a card.
func BenchmarkAnalyse(b *testing.B) {
	o := paged()
	o.Ladders = []plan.Ladder{resultstest.Ladder("concurrency", plan.AxisConcurrency, 5, 4, 8000, 1, 2, 4, 8, 16, 32)}
	o.Service = func(plan.Shape) float64 { return 0.01 }
	r := o.Run()
	b.ReportMetric(float64(len(r.Requests)), "rows")
	for b.Loop() {
		results.Analyse(r.Sealed(), r.Plan.Analysis)
	}
}
