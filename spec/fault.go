package spec

import (
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"rung/spec/plan"
)

func faultSchema() schema {
	return schema{kind: "fault", required: []string{"kind"}, attrs: []string{"kind", "share", "every", "from", "times", "at_inputs", "at_tokens",
		"status", "body", "after", "at", "for", "factor", "memory"}}
}

// faultAttrs says which kinds of fault have an attribute; those that are not here go
// with every kind that falls on requests.
func faultAttrs() map[string][]plan.FaultKind {
	return map[string][]plan.FaultKind{
		"status": {plan.FaultStatus},
		"body":   {plan.FaultStatus, plan.FaultStreamError},
		"after":  {plan.FaultSlowFirst, plan.FaultRetryAfter, plan.FaultCloseIdle},
		"at":     {plan.FaultInterference},
		"for":    {plan.FaultInterference},
		"factor": {plan.FaultInterference},
		"memory": {plan.FaultInterference},
	}
}

// fault decodes one fault of the simulated server.
func (l *loader) fault(b *hclsyntax.Block) plan.Fault {
	f := l.open(b, faultSchema())
	kinds := make([]string, 0, len(plan.FaultKinds()))
	for _, k := range plan.FaultKinds() {
		kinds = append(kinds, string(k))
	}
	out := plan.Fault{Kind: plan.FaultKind(f.choice("kind", "", kinds))}
	out.Share = beside(f.real("share", 1, 0.000001, 1), 1)
	out.Every = beside(f.count("every", 1, 1, maxRung), 1)
	out.From = beside(f.count("from", 1, 1, maxRung), 1)
	out.Times = f.count("times", 0, 1, maxRung)
	out.AtInputs = f.count("at_inputs", 0, 1, maxRung)
	out.AtTokens = f.count("at_tokens", 0, 1, maxRung)
	out.Status = beside(f.count("status", 500, 200, 599), 500)
	out.Body = f.word("body")
	out.After = plan.Duration(beside(f.duration("after", time.Second, time.Millisecond, time.Hour), time.Second))
	out.At = plan.Duration(f.duration("at", 0, 0, 24*time.Hour))
	out.For = plan.Duration(f.duration("for", 0, 0, 24*time.Hour))
	out.Factor = beside(f.real("factor", 1, 1, 1_000), 1)
	out.Memory = f.size("memory", 0)
	f.excludes("share", "every", "can't stand beside every: a fault goes by the request's bytes or by its number.")
	if out.Kind != "" {
		f.ofKind(out.Kind)
	}
	return out
}

// ofKind refuses what another kind of fault has.
func (f *fields) ofKind(kind plan.FaultKind) {
	own := faultAttrs()
	for _, name := range sortedKeys(own) {
		if !slices.Contains(own[name], kind) {
			f.refuse(sumOnlyWith, fmt.Sprintf("means nothing for a fault of kind %q.", kind), name)
		}
	}
	if kind == plan.FaultInterference || kind == plan.FaultCloseIdle {
		f.refuse(sumOnlyWith, fmt.Sprintf("means nothing for a fault of kind %q, which falls on no single request.", kind),
			"share", "every", "from", "times", "at_inputs", "at_tokens")
	}
}
