// Package progress shows a run to whoever waits for it: a live line on a
// terminal, plain lines elsewhere. It decides nothing and keeps nothing.
package progress

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"rung/sinks/record"
	"rung/spec/plan"
)

// Options say for whom the progress is written.
type Options struct {
	Live      bool       // a terminal that understands carriage returns
	Width     func() int // columns now; nil: 80
	UTF8      bool       // else plain ASCII
	Simulated bool
	Now       func() time.Time
	Past      []record.Event // of a run that goes on: what it had done before
}

// Sink writes progress. It implements sinks.Sink; a writer that fails is left
// alone, since no measurement depends on it.
type Sink struct {
	w     io.Writer
	o     Options
	cell  plan.Cell
	unit  string
	eta   *estimate
	place record.Place
	state rungState
	drawn time.Time
	live  bool // a live line stands at the cursor
	mem   *int64
}

// rungState is what the line says of the rung under way.
type rungState struct {
	latencies []float64
	begun     int // of the latencies: those before the round under way
	failed    map[record.Outcome]int
	refused   int
	peak      *int64

	each        float64 // of the unit in one request
	inFlight    int     // asked of a closed loop; 0 in an open one
	first, last float64 // between which the round's rate is taken, on the run's clock
	inRound     int     // successes of the round under way
	done        float64 // of the unit, in ended rounds
	took        float64 // seconds that those took
}

// see notes that a success ended. The first of a closed loop, as many as are in flight,
// only fill it.
func (r *rungState) see(t record.Tick, unit string) {
	r.each, r.inFlight = float64(t.Inputs), t.InFlight
	if unit == "requests/s" {
		r.each = 1
	}
	r.inRound++
	if r.inRound <= r.fills() {
		r.first = t.TS
	}
	r.last = t.TS
}

// fills is how many successes of a round only fill it.
func (r *rungState) fills() int { return max(1, r.inFlight) }

// roundEnd adds up what came once the round was full, and how long that took.
func (r *rungState) roundEnd() {
	done, took := r.soFar()
	r.done, r.took, r.inRound = r.done+done, r.took+took, 0
}

func (r *rungState) soFar() (done, took float64) {
	if r.inRound <= r.fills() {
		return 0, 0
	}
	return float64(r.inRound-r.fills()) * r.each, r.last - r.first
}

// rate is the unit a second. Of several in flight it is taken while the rounds were
// full; one after the other take the time that they take.
func (r *rungState) rate() float64 {
	if r.inFlight == 1 {
		sum := 0.0
		for _, l := range r.latencies {
			sum += l
		}
		return r.each * float64(len(r.latencies)) / sum
	}
	done, took := r.soFar()
	if done, took = done+r.done, took+r.took; took <= 0 {
		return 0
	}
	return done / took
}

// New makes the sink for one cell of a plan.
func New(w io.Writer, p plan.Plan, c plan.Cell, o Options) *Sink {
	unit := "inputs/s"
	if p.Target.API.Generates() {
		unit = "requests/s"
	}
	s := &Sink{w: w, o: o, cell: c, unit: unit, eta: newEstimate(c)}
	for _, e := range o.Past {
		s.eta.recall(e)
	}
	return s
}

// redraw is how often the live line may change.
const redraw = 100 * time.Millisecond

// Write takes one item.
func (s *Sink) Write(it record.Item) error {
	switch {
	case it.Event != nil:
		s.event(*it.Event)
	case it.Tick != nil:
		s.tick(*it.Tick)
	case it.Sample != nil:
		s.sample(*it.Sample)
	}
	return nil
}

// Close takes the live line away.
func (s *Sink) Close() error {
	s.clear()
	return nil
}

func (s *Sink) event(e record.Event) {
	switch e.Kind {
	case record.RunBegin, record.Resumed:
		if e.Kind == record.Resumed {
			s.line("resumed: " + e.Reason)
		}
		if s.o.Simulated {
			s.line("SIMULATED: a built-in server and a modelled GPU; no figure below is a measurement of a real one")
		}
	case record.IdleBegin:
		s.line(fmt.Sprintf("baseline: idle for %s, then %d single requests", s.cell.Baseline.Idle, s.cell.Baseline.Requests))
	case record.LadderBegin:
		s.line(s.ladderLine(e.Ladder))
	case record.RungBegin, record.PhaseBegin:
		s.place, s.state = e.Place, rungState{}
	case record.RoundBegin:
		s.state.begun = len(s.state.latencies)
	case record.RoundEnd:
		s.roundEnd(e)
	case record.RungEnd, record.PhaseEnd:
		s.line(s.summary())
		s.eta.done(e.Place)
		s.state = rungState{} // what comes between two rungs belongs to none
	case record.EdgeFound:
		s.line(fmt.Sprintf("  edge at %s %g: %s", e.Ladder, e.Value, e.Reason))
		s.eta.edge(e.Place)
	case record.LadderEnd:
		s.line(fmt.Sprintf("ladder %s ended: %s", e.Ladder, e.Reason))
		s.eta.ladderEnd(e.Ladder)
	case record.RestartBegin:
		s.line("starting the server again: " + e.Reason)
	case record.RestartEnd:
		if e.Reason != "" {
			s.line("warning: the server is not ready: " + e.Reason)
		}
	case record.Warning:
		s.line("warning: " + e.Reason)
	case record.GPULost:
		s.line("warning: the GPU is no longer sampled: " + e.Reason)
	case record.MetricsLost:
		s.line("warning: the server's metrics can't be read: " + e.Reason)
	case record.LogOOM, record.LogFault, record.LogSetting:
		s.line("the server's log: " + e.Reason)
	case record.MetricsBack:
		s.line("the server's metrics are read again")
	case record.Interrupted:
		s.line("interrupted: what was measured is kept")
	default: // the rest is for the tables
	}
}

func (s *Sink) roundEnd(e record.Event) {
	if e.Verdict == record.Rejected {
		s.state.inRound = 0
	}
	s.state.roundEnd()
	if e.Verdict == record.Rejected {
		s.state.refused++
		s.state.latencies = s.state.latencies[:min(s.state.begun, len(s.state.latencies))] // its figures count nowhere
		s.line("  round refused: " + e.Reason)
	}
}

func (s *Sink) tick(t record.Tick) {
	s.eta.see(t)
	if t.Phase == record.Measure || t.Phase == record.Baseline || t.Phase == record.Retest || t.Phase == record.Confirm && t.Ladder == "" {
		if t.Outcome == record.OK {
			s.state.latencies = append(s.state.latencies, t.LatencyS)
			s.state.see(t, s.unit)
			s.eta.learn(t)
		} else {
			if s.state.failed == nil {
				s.state.failed = map[record.Outcome]int{}
			}
			s.state.failed[t.Outcome]++
		}
	}
	s.place = t.Place
	s.draw(t.Ended, t.Of)
}

func (s *Sink) sample(m record.Sample) {
	s.mem = m.MemUsedBytes
	if m.MemUsedBytes != nil && (s.state.peak == nil || *m.MemUsedBytes > *s.state.peak) {
		s.state.peak = m.MemUsedBytes
	}
}

func (s *Sink) ladderLine(name string) string {
	for _, l := range s.cell.Ladders {
		if l.Name == name {
			values := make([]string, len(l.Rungs))
			for i, r := range l.Rungs {
				values[i] = fmt.Sprintf("%g", r.Value)
			}
			return fmt.Sprintf("ladder %s: %s at %s, %s", name, l.Axis, strings.Join(values, " "), plural(len(l.Passes), "pass", "passes"))
		}
	}
	return "ladder " + name
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// summary is the line that stays of a rung or of the baseline.
func (s *Sink) summary() string {
	parts := []string{"  " + s.where()}
	parts = append(parts, fmt.Sprintf("%d ok", len(s.state.latencies)))
	for _, o := range record.Outcomes() {
		if n := s.state.failed[o]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, o))
		}
	}
	parts = append(parts, s.figures(s.state.peak)...)
	if s.state.refused > 0 {
		parts = append(parts, plural(s.state.refused, "round refused", "rounds refused"))
	}
	return strings.Join(parts, s.dot())
}

func (s *Sink) where() string {
	switch {
	case s.place.Ladder == "" && s.place.Phase == record.Confirm:
		return "all limits"
	case s.place.Ladder == "":
		return "baseline"
	case s.place.Phase == record.Retest:
		return fmt.Sprintf("retest of %s %g", s.place.Ladder, s.place.Value)
	}
	for _, l := range s.cell.Ladders {
		if l.Name == s.place.Ladder && len(l.Passes) > 1 {
			return fmt.Sprintf("%s %g, pass %d/%d", l.Name, s.place.Value, s.place.Pass+1, len(l.Passes))
		}
	}
	return fmt.Sprintf("%s %g", s.place.Ladder, s.place.Value)
}

// figures are rate, P95 and memory, as far as they are known.
func (s *Sink) figures(memory *int64) []string {
	var out []string
	if n := len(s.state.latencies); n > 0 {
		sorted := slices.Sorted(slices.Values(s.state.latencies))
		if rate := s.state.rate(); rate > 0 {
			out = append(out, fmt.Sprintf("%s %s", digits(rate), s.unit))
		}
		out = append(out, "P95 "+span(record.Quantile(sorted, 0.95)))
	}
	if memory != nil {
		out = append(out, fmt.Sprintf("%.2f GiB", float64(*memory)/(1<<30)))
	}
	return out
}

// draw renews the live line, at most ten times a second.
func (s *Sink) draw(ended, of int) {
	if !s.o.Live || s.o.Now().Sub(s.drawn) < redraw {
		return
	}
	s.drawn = s.o.Now()
	width := 0
	if s.o.Width != nil {
		width = s.o.Width()
	}
	if width <= 0 {
		width = 80
	}
	text := fit(s.plain(s.joined(width-1, s.fields(ended, of))), width-1)
	fmt.Fprintf(s.w, "\r\x1b[K%s", text) //nolint:errcheck // no measurement depends on the terminal
	s.live = true
}

// fields are the parts of the live line, the most wanted first.
func (s *Sink) fields(ended, of int) []string {
	step := fmt.Sprintf("round %d", s.place.Round+1)
	if rounds := s.roundsHere(); rounds > 1 {
		step += fmt.Sprintf("/%d", rounds)
	}
	switch s.place.Phase {
	case record.Warmup:
		step = "warm-up"
	case record.Confirm:
		step = "confirming the edge"
	default:
	}
	if of > 1 {
		step += fmt.Sprintf(" %d/%d", ended, of)
	}
	fields := []string{s.where(), step}
	if left, ok := s.eta.left(); ok {
		fields = append(fields, "about "+left.Round(time.Second).String()+" left")
	}
	return append(fields, s.figures(s.mem)...)
}

// joined takes as many fields as fit: half a figure would be a false one.
func (s *Sink) joined(width int, fields []string) string {
	line := fields[0]
	for _, f := range fields[1:] {
		if longer := line + s.dot() + f; utf8.RuneCountInString(longer) <= width {
			line = longer
		}
	}
	return line
}

func (s *Sink) roundsHere() int {
	for _, l := range s.cell.Ladders {
		if l.Name == s.place.Ladder {
			return l.Rungs[s.place.Rung].Rounds
		}
	}
	return 1
}

func (s *Sink) clear() {
	if s.live {
		fmt.Fprint(s.w, "\r\x1b[K") //nolint:errcheck // no measurement depends on the terminal
		s.live = false
	}
}

func (s *Sink) line(text string) {
	s.clear()
	fmt.Fprintln(s.w, s.plain(text)) //nolint:errcheck // no measurement depends on the terminal
}
