package spec

import (
	"slices"

	"rung/sinks/record"
	"rung/spec/plan"
)

func stopSchema() schema {
	const have = "There are outcomes, failure_ratio and confirm_rounds."
	return schema{
		kind: "stop", attrs: []string{"outcomes", "failure_ratio", "confirm_rounds"},
		notYet: map[string]string{"p95_over_baseline": have, "throughput_drop": have, "min_requests": have},
	}
}

// stop decodes what makes a rung the edge.
func (l *loader) stop(f *fields) plan.Stop {
	s := plan.Stop{
		Outcomes:      f.texts("outcomes", []string{"oom", "cuda_error", "reset", "refused"}, 100),
		FailureRatio:  f.real("failure_ratio", 0.01, 0, 1),
		ConfirmRounds: f.count("confirm_rounds", 3, 0, 1_000),
		MinRequests:   20,
	}
	var failures []string
	for _, o := range record.Outcomes() {
		if o.ServerFailure() {
			failures = append(failures, string(o))
		}
	}
	for i, o := range s.Outcomes {
		l.choose(f.rng("outcomes"), "An outcome that stops a ladder", o, "", failures, nil)
		if slices.Index(s.Outcomes, o) < i {
			l.errorAt(f.rng("outcomes"), sumOutOfRange, "outcomes of stop names %q twice.", clip(o))
		}
	}
	return s
}
