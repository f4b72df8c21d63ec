package spec

import (
	"slices"

	"rung/sinks/record"
	"rung/spec/plan"
)

func stopSchema() schema {
	return schema{
		kind:  "stop",
		attrs: []string{"outcomes", "failure_ratio", "confirm_rounds", "min_requests", "p95_over_baseline", "throughput_drop"},
	}
}

// stop decodes what makes a rung the edge.
func (l *loader) stop(f *fields) plan.Stop {
	d := plan.DefaultStop()
	return plan.Stop{
		Outcomes:        f.failures("An outcome that stops a ladder", d.Outcomes),
		FailureRatio:    f.real("failure_ratio", d.FailureRatio, 0, 1),
		ConfirmRounds:   f.count("confirm_rounds", d.ConfirmRounds, 0, 1_000),
		MinRequests:     f.count("min_requests", d.MinRequests, 1, maxCount),
		P95OverBaseline: f.inside("p95_over_baseline", 1, 1e6),
		ThroughputDrop:  f.inside("throughput_drop", 0, 1),
	}
}

// failures reads outcomes, each of which is a failure of the server's.
func (f *fields) failures(what string, def []string) []string {
	out := f.texts("outcomes", def, 100)
	var failures []string
	for _, o := range record.Outcomes() {
		if o.ServerFailure() {
			failures = append(failures, string(o))
		}
	}
	for i, o := range out {
		f.l.choose(f.rng("outcomes"), what, o, "", failures)
		if slices.Index(out, o) < i {
			f.l.errorAt(f.rng("outcomes"), sumOutOfRange, "outcomes of %s names %q twice.", f.kind, clip(o))
		}
	}
	return out
}
