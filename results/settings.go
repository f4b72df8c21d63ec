package results

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"rung/sinks/record"
	"rung/spec/plan"
)

// The settings that a run can carry, by names that belong to no server.
const (
	SetBatch       = "max_batch_size"
	SetConcurrency = "max_concurrency"
	SetSequences   = "max_sequences" // inputs at once: the concurrency times the batch it was measured at
	SetInput       = "max_input_tokens"
	SetModelLen    = "max_model_len" // of input and output
	SetBatchTokens = "max_batch_tokens"
	SetMemoryShare = "gpu_memory_share"
	SetQueueMS     = "queue_timeout_ms"
	SetRequestMS   = "request_timeout_ms"
	SetReserve     = "gpu_memory_reserve" // bytes
)

// Setting is one value to configure, with where it comes from; or why the data does not
// carry it.
type Setting struct {
	Name  string   `json:"name"`
	Value *float64 `json:"value,omitempty"`
	From  string   `json:"from,omitempty"`  // ladder, rung, rule, share
	Holds string   `json:"holds,omitempty"` // the conditions under which it does
	// Doubt is what speaks against it: a check that it did not pass, too few requests.
	Doubt  string `json:"doubt,omitempty"`
	Reason string `json:"reason,omitempty"` // why there is no value
}

// settings are all that can be known of, in the order of the names above.
func (rep *Report) settings(r *Run, ladders []*walked) []Setting {
	return []Setting{
		rep.limitOf(SetBatch, plan.AxisBatch, nil),
		rep.limitOf(SetConcurrency, plan.AxisConcurrency, nil),
		rep.limitOf(SetSequences, plan.AxisConcurrency, func(g *Rung) (float64, string) {
			return g.Value * float64(g.Shape.Batch), "inputs at once"
		}),
		rep.limitOf(SetInput, plan.AxisInputTokens, nil),
		rep.modelLen(r),
		rep.limitOf(SetBatchTokens, plan.AxisBatch, func(g *Rung) (float64, string) {
			return g.Value * float64(g.Shape.InputTokens), fmt.Sprintf("inputs of %d tokens", g.Shape.InputTokens)
		}),
		rep.memoryShare(r),
		rep.queueTimeout(),
		requestTimeout(ladders, rep.Rules.Config.TimeoutFactor),
		rep.reserve(),
	}
}

// limitOf is the least limit of the ladders of an axis, or what is made of it.
func (rep *Report) limitOf(name string, axis plan.Axis, of func(*Rung) (value float64, words string)) Setting {
	s := Setting{Name: name}
	var from *Ladder
	least := math.Inf(1)
	for i := range rep.Ladders {
		l := &rep.Ladders[i]
		if l.Axis != axis {
			continue
		}
		r := l.at(l.Limit.Value)
		if r == nil {
			s.Reason = cmp.Or(s.Reason, fmt.Sprintf("ladder %q gives no limit, since %s", l.Name, l.Limit.Reason))
			continue
		}
		value, words := r.Value, ""
		if of != nil {
			value, words = of(r)
		}
		if value >= least {
			continue
		}
		least, from = value, l
		s.Value, s.From, s.Holds, s.Doubt = &value, l.source(r, words), rep.conditions(l), l.doubt()
	}
	switch {
	case from != nil:
		s.Reason = ""
	case s.Reason == "":
		s.Reason = fmt.Sprintf("there is no ladder of %s", axis)
	}
	return s
}

// source says where a limit comes from.
func (l *Ladder) source(r *Rung, words string) string {
	s := fmt.Sprintf("ladder %q, rung %g", l.Name, r.Value)
	if words != "" {
		s += " (" + words + ")"
	}
	s += ": " + l.Limit.Reason
	if l.Knee.Rule != "" && l.Limit.Bound == BoundKnee {
		s += " by " + l.Knee.Rule
	}
	if l.Knee.Share != nil && l.Limit.Bound == BoundKnee {
		s += fmt.Sprintf(", in %s of the resamples of %d passes", percent(*l.Knee.Share), l.Knee.Passes)
	}
	return s + "; " + cmp.Or(l.Limit.Checked, NotChecked)
}

// doubt says what speaks against a ladder's limit.
func (l *Ladder) doubt() string {
	var out []string
	if l.Limit.Check == NotConfirmed {
		out = append(out, "NOT CONFIRMED")
	}
	if l.Knee.Passes == 1 && l.Limit.Bound == BoundKnee {
		out = append(out, "one walk up, drift unseen")
	}
	if s := l.Knee.Share; s != nil && *s < 0.70 && l.Limit.Bound == BoundKnee {
		out = append(out, "not settled")
	}
	if r := l.at(l.Limit.Value); r != nil && r.Steady != nil && r.Steady.Verdict == NotSteady {
		out = append(out, "not steady there")
	}
	return strings.Join(out, "; ")
}

// conditions are what a ladder's limit holds under, beside the model, its server and
// the card.
func (rep *Report) conditions(l *Ladder) string {
	s := strings.TrimPrefix(l.fixed(), "at ") + ", " + textOf(l.Prompt)
	if rep.Run.API.Generates() {
		s += fmt.Sprintf(", temperature %g", l.Prompt.Temperature)
	}
	return s
}

// modelLen is the longest input that passed and, of a generating model, the output that
// was asked with it.
func (rep *Report) modelLen(r *Run) Setting {
	if !r.Plan.Target.API.Generates() {
		return rep.limitOf(SetModelLen, plan.AxisInputTokens, nil)
	}
	return rep.limitOf(SetModelLen, plan.AxisInputTokens, func(g *Rung) (float64, string) {
		return g.Value + float64(g.Shape.OutputTokens), fmt.Sprintf("and %d output tokens", g.Shape.OutputTokens)
	})
}

// queueTimeout is the declared multiple of the P95 of single requests.
func (rep *Report) queueTimeout() Setting {
	s, b := Setting{Name: SetQueueMS}, rep.Baseline
	switch {
	case b.Latency == nil:
		s.Reason = "there is no baseline: " + b.Reason
		return s
	case !within(rep.Rules.Config.QueueFactor, 0.01, 1e6):
		s.Reason = "queue_factor is none"
		return s
	}
	s.Value = new(math.Ceil(1000 * b.Latency.P95S * rep.Rules.Config.QueueFactor))
	s.From = fmt.Sprintf("baseline: P95 %.4g s of %s, times queue_factor %g", b.Latency.P95S, count(b.Latency.N, "single request", "single requests"), rep.Rules.Config.QueueFactor)
	if !b.Latency.P95Supported {
		s.Doubt = fmt.Sprintf("P95 is not supported by n=%d, it needs %d", b.Latency.N, P95Needs)
	}
	if b.Noisy {
		s.Doubt = join("; ", s.Doubt, "the baseline is noisy")
	}
	return s
}

// requestTimeout is the declared multiple of the slowest success at the longest output,
// at rungs up to the limits. Where a request timed out there, the slowest that would
// have succeeded is not known.
func requestTimeout(ladders []*walked, factor float64) Setting {
	s := Setting{Name: SetRequestMS}
	var at *Rung
	var of *walked
	timedOut := 0
	for _, w := range ladders {
		for i := range w.out.Rungs {
			r := &w.out.Rungs[i]
			if r.Latency == nil || r.Index >= w.edge || w.out.Limit.Value != nil && r.Value > *w.out.Limit.Value {
				continue
			}
			if at == nil || r.Shape.OutputTokens > at.Shape.OutputTokens {
				at, of, timedOut = nil, nil, 0
			}
			if at != nil && r.Shape.OutputTokens < at.Shape.OutputTokens {
				continue
			}
			for _, f := range r.Failures {
				if record.Outcome(f.Name) == record.Timeout {
					timedOut += f.N
				}
			}
			if at == nil || r.Latency.MaxS > at.Latency.MaxS {
				at, of = r, w
			}
		}
	}
	switch {
	case at == nil:
		s.Reason = "no rung up to a limit has a success"
	case timedOut > 0:
		s.Reason = fmt.Sprintf("%s timed out at the longest output: how long they would have taken is not known", count(timedOut, "request", "requests"))
	case !within(factor, 0.01, 1e6):
		s.Reason = "timeout_factor is none"
	default:
		s.Value = new(math.Ceil(1000 * at.Latency.MaxS * factor))
		s.From = fmt.Sprintf("ladder %q, rung %g: the slowest success, %.4g s of n = %d, times timeout_factor %g", of.plan.Name, at.Value, at.Latency.MaxS, at.Latency.N, factor)
		s.Holds = strings.TrimPrefix(of.out.fixed(), "at ") + ", " + textOf(of.plan.Prompt)
	}
	return s
}
