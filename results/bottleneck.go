package results

import (
	"fmt"

	"rung/spec/plan"
)

// binds picks the rung whose diagnosis is the ladder's: the one above the best, where
// more load no longer pays; the edge where that is slow; else the highest that was
// walked and did not fail.
func (l *Ladder) binds() *Rung {
	if r := l.at(l.Knee.Knee); r != nil {
		return r
	}
	if l.Edge != nil && l.Edge.Kind == EdgeSlow {
		return l.at(&l.Edge.Value)
	}
	for i := len(l.Rungs) - 1; i >= 0; i-- {
		if l.Rungs[i].Failed == "" {
			return &l.Rungs[i]
		}
	}
	return nil
}

// Bottleneck is what bound a ladder, and at which rung.
type Bottleneck struct {
	Value    float64 `json:"value"` // of the rung
	Verdict  string  `json:"verdict"`
	Evidence string  `json:"evidence,omitempty"`
	Reason   string  `json:"reason,omitempty"` // why it is undetermined
}

// bottleneck fills in what bound the ladder.
func (w *walked) bottleneck() {
	r := w.out.binds()
	if r == nil || r.Diagnosis == nil || w.plan.Axis == plan.AxisInputTokens || w.plan.Axis == plan.AxisOutputTokens {
		return // along lengths each rung is other work
	}
	d := r.Diagnosis
	w.out.Bottleneck = &Bottleneck{Value: r.Value, Verdict: d.Verdict, Evidence: d.Evidence(), Reason: d.Reason}
}

// words name the bottleneck in a sentence; "" where it is not determined.
func (b *Bottleneck) words() string {
	if b == nil || b.Verdict == Undetermined {
		return ""
	}
	return fmt.Sprintf("the bottleneck at %g is %s", b.Value, bottleneckWords(b.Verdict))
}

// bottleneckWords are what a verdict is called in a sentence.
func bottleneckWords(verdict string) string {
	switch verdict {
	case ByClient:
		return "the client (client_limited)"
	case ByThrottling:
		return "a card that was slowed down (throttled)"
	case ByPaging:
		return "memory (paging)"
	case ByCompute:
		return "compute"
	case ByBandwidth:
		return "the card's memory bandwidth"
	case ByHost:
		return "the host"
	default:
		return verdict
	}
}

// finding says what bound the ladder, with the figures that it rests on.
func (b *Bottleneck) finding() string {
	if b.Verdict == Undetermined {
		return fmt.Sprintf("Bottleneck at %g: undetermined, %s.", b.Value, b.Reason)
	}
	return fmt.Sprintf("Bottleneck at %g: %s (%s).", b.Value, bottleneckWords(b.Verdict), b.Evidence)
}

// causeAt names what bound a rung, for the end of a sentence; "" where that is not
// determined.
func (l *Ladder) causeAt(value float64) string {
	r := l.at(&value)
	if r == nil || r.Diagnosis == nil || r.Diagnosis.Verdict == Undetermined {
		return ""
	}
	return fmt.Sprintf("; what binds there is %s (%s)", bottleneckWords(r.Diagnosis.Verdict), r.Diagnosis.Evidence())
}
