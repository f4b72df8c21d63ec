package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rung/sinks/record"
)

// Instrument is what is known of the client, and of what it did beside measuring.
type Instrument struct {
	Floor     *record.Floor `json:"floor,omitempty"`
	Unchecked string        `json:"unchecked,omitempty"` // why there is no floor
	Near      []Near        `json:"near_floor,omitempty"`

	Samples    int      `json:"samples"`
	MaxCPUPct  *float64 `json:"max_cpu_pct,omitempty"` // of the cores that it may use
	MaxStallS  *float64 `json:"max_stall_s,omitempty"` // the longest that a timer of its own was late
	ClockSteps []string `json:"clock_steps,omitempty"`

	ResetIdle int       `json:"reset_idle"` // requests that were sent again, see record.Request
	Restarts  []Restart `json:"restarts,omitempty"`
	Settles   []Settle  `json:"settles_given_up,omitempty"`
}

// Near is a rung that came within a factor of two of what the client can do at all.
type Near struct {
	Ladder string  `json:"ladder"`
	Value  float64 `json:"value"`
	How    string  `json:"how"`
}

// Restart is one start of the server during the run.
type Restart struct {
	TS     float64 `json:"t_s"`
	Before string  `json:"before,omitempty"` // the ladder that followed
	Reason string  `json:"reason"`
	Failed string  `json:"failed,omitempty"` // why it was not ready
}

// Settle are the rungs of a ladder before which the card did not come back to what it
// was in the idle time.
type Settle struct {
	Ladder string    `json:"ladder"`
	Values []float64 `json:"values"`
	Times  int       `json:"times"`
	Reason string    `json:"reason"` // the first
}

// nearFloor is the factor within which the client's own speed may show in a figure.
const nearFloor = 2

func newInstrument(r *Run) Instrument {
	c := r.Manifest.Client
	out := Instrument{Floor: c.Floor, Unchecked: c.Unchecked, Samples: len(r.Client)}
	for _, s := range r.Client {
		if cpu := finite(s.CPUPct); cpu != nil && (out.MaxCPUPct == nil || *cpu > *out.MaxCPUPct) {
			out.MaxCPUPct = cpu
		}
		if stall := finite(s.StallS); stall != nil && (out.MaxStallS == nil || *stall > *out.MaxStallS) {
			out.MaxStallS = stall
		}
	}
	for k, n := range r.Requests.Kinds() {
		if k.ResetIdle {
			out.ResetIdle += n
		}
	}
	events := sortedEvents(r.Events)
	for i, e := range events {
		switch e.Kind {
		case record.ClockStep:
			out.ClockSteps = append(out.ClockSteps, fmt.Sprintf("at %.1f s %s", e.TS, e.Reason))
		case record.RestartBegin:
			out.Restarts = append(out.Restarts, restart(e, events[i+1:]))
		case record.SettleEnd:
			out.settle(e)
		default:
		}
	}
	return out
}

// restart reads what came of a restart from the events after its begin.
func restart(begin record.Event, after []record.Event) Restart {
	out := Restart{TS: begin.TS, Reason: begin.Reason, Failed: "the run ended before it was ready"}
	for _, e := range after {
		switch e.Kind {
		case record.RestartBegin:
			return out
		case record.RestartEnd:
			out.Failed = e.Reason
		case record.LadderBegin:
			out.Before = e.Ladder
			return out
		default:
		}
	}
	return out
}

// settle counts a wait that was given up. What the runner says of it begins so.
func (i *Instrument) settle(e record.Event) {
	if !strings.HasPrefix(e.Reason, "given up") {
		return
	}
	at := slices.IndexFunc(i.Settles, func(s Settle) bool { return s.Ladder == e.Ladder })
	if at < 0 {
		at = len(i.Settles)
		i.Settles = append(i.Settles, Settle{Ladder: e.Ladder, Reason: e.Reason})
	}
	s := &i.Settles[at]
	s.Times++
	if !slices.Contains(s.Values, e.Value) {
		s.Values = append(s.Values, e.Value)
		slices.SortFunc(s.Values, cmp.Compare)
	}
}

// near finds the rungs that came within a factor of two of the floor: by their
// requests a second, or by their P95 where as many were in flight.
func (i *Instrument) near(ladders []*walked) {
	f := i.Floor
	if f == nil || f.RatePerS <= 0 {
		return
	}
	for _, w := range ladders {
		for k := range w.out.Rungs {
			r := &w.out.Rungs[k]
			var how []string
			if x := w.flow(w.rows[r.Index].counted(), r.Index, requests().each).rate(); x != nil && *x*nearFloor >= f.RatePerS {
				how = append(how, fmt.Sprintf("%.4g requests/s, and the client alone does %.4g", *x, f.RatePerS))
			}
			if l := r.Latency; l != nil && r.Shape.InFlight == f.InFlight && l.P95S <= nearFloor*f.P95S {
				how = append(how, fmt.Sprintf("a P95 of %.3g s, and the client alone has %.3g s", l.P95S, f.P95S))
			}
			if len(how) > 0 {
				i.Near = append(i.Near, Near{w.plan.Name, r.Value, strings.Join(how, "; ")})
			}
		}
	}
}

// invalid says what makes the result of a run one that must not be relied on: it did
// not end, nothing is known where something was to be, other load, a latency that did
// not stand still, a limit that did not hold.
func (rep *Report) invalid(r *Run) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if rep.Run.Status != record.Done {
		say("the run did not end as done, but as %q", rep.Run.Status)
	}
	if r.Unverified {
		say("it did not end in order, and no manifest vouches for its parts")
	}
	if rep.Baseline.Noisy {
		say("the baseline is noisy")
	}
	for i := range rep.Ladders {
		l := &rep.Ladders[i]
		if len(l.Rungs) == 0 {
			say("ladder %q: nothing was measured", l.Name)
		}
		if at, why := l.refused(); at != "" {
			say("ladder %q at %s: every round was refused (%s)", l.Name, at, nameOf(why))
		}
		for _, g := range l.Rungs {
			if g.ClientLimited {
				say("ladder %q at %g: client_limited, the client was measured", l.Name, g.Value)
			}
		}
		if at := l.unsteadyAt(); at != "" {
			say("ladder %q at %s: not steady", l.Name, at)
		}
		if l.Limit.Check == NotConfirmed {
			say("ladder %q: its limit is %s", l.Name, l.Limit.Checked)
		}
	}
	return out
}
