package results

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"rung/spec/plan"
)

// Comparison holds a run, B, against another, A, rung by rung.
type Comparison struct {
	A        Compared     `json:"a"`
	B        Compared     `json:"b"`
	Alpha    float64      `json:"alpha"` // of all tests together, by Holm
	Tests    int          `json:"tests"`
	Warnings []string     `json:"warnings,omitempty"`
	Settings []string     `json:"settings_changed,omitempty"`  // of the server, as far as the runs know
	InForce  []string     `json:"settings_in_force,omitempty"` // what the servers themselves say of that
	Ladders  []LadderPair `json:"ladders"`
	Verdict  string       `json:"verdict"`
}

// Compared names one of the runs.
type Compared struct {
	Dir      string `json:"dir"`
	RunID    string `json:"run_id"`
	Cell     string `json:"cell,omitempty"`
	Model    string `json:"model"`
	Server   string `json:"server,omitempty"`
	Workload string `json:"workload_hash"`
	Verdict  string `json:"verdict"`
}

// LadderPair is a ladder that both runs have.
type LadderPair struct {
	Name     string     `json:"name"`
	Axis     plan.Axis  `json:"axis"`
	Unit     string     `json:"throughput_unit"`
	Setting  string     `json:"setting"`
	Rungs    []RungPair `json:"rungs"`
	Unpaired []float64  `json:"unpaired,omitempty"` // values that only one of them walked

	Limit Pair `json:"limit"`
	Knee  Pair `json:"knee"`
	Edge  Pair `json:"edge"`
	// EdgeMoved is up, down, same or, where neither has one, none.
	EdgeMoved string `json:"edge_moved"`
}

// Pair is a figure in both runs; nil where a run has none.
type Pair struct {
	A *float64 `json:"a,omitempty"`
	B *float64 `json:"b,omitempty"`
}

// RungPair is a rung of equal value and shape in both runs.
type RungPair struct {
	Value      float64 `json:"value"`
	Throughput Effect  `json:"throughput"`
	Latency    Effect  `json:"latency"`    // P95 where passes are compared, else the median, in seconds
	LatencyOf  string  `json:"latency_of"` // p95, median
	PeakBytes  Pair    `json:"peak_bytes"`
}

// Effect is how a figure of B differs from that of A.
type Effect struct {
	Pair
	Change *float64 `json:"change,omitempty"` // B over A, less 1
	// Delta is Cliff's: the share of the pairs in which B's is greater less that in which
	// A's is; from -1 to 1.
	Delta   *float64 `json:"delta,omitempty"`
	Over    string   `json:"over,omitempty"` // passes, rounds: what was compared
	NA      int      `json:"n_a"`
	NB      int      `json:"n_b"`
	P       *float64 `json:"p,omitempty"`      // by Mann and Whitney, two-sided
	PHolm   *float64 `json:"p_holm,omitempty"` // the same, held against the number of tests
	Differs bool     `json:"differs"`          // PHolm is below alpha
	Reason  string   `json:"reason,omitempty"` // why there is no test
}

// ErrOtherWork says that two runs did other work.
var ErrOtherWork = errors.New("the runs did other work: their workload hashes differ")

// Compare holds b against a. Runs whose workload hashes differ are refused unless any
// is given; then only rungs of equal value and shape are paired, and it is said.
func Compare(a, b *Run, anyWorkload bool) (Comparison, error) {
	out := Comparison{Alpha: alpha, Ladders: []LadderPair{}}
	if ha, hb := a.Manifest.WorkloadHash, b.Manifest.WorkloadHash; ha != hb {
		if !anyWorkload {
			return out, fmt.Errorf("%w (%.12s and %.12s)", ErrOtherWork, ha, hb)
		}
		out.Warnings = append(out.Warnings, "the runs did other work: their workload hashes differ, and only rungs of equal value and shape are paired")
	}
	ra, la := analyse(a, a.Plan.Analysis)
	rb, lb := analyse(b, b.Plan.Analysis)
	out.A, out.B = compared(ra), compared(rb)
	for _, rep := range []*Report{ra, rb} {
		for _, why := range rep.Invalid {
			out.Warnings = append(out.Warnings, fmt.Sprintf("run %s: %s", rep.Run.RunID, why))
		}
	}
	out.Settings = changed(a, b)
	out.InForce = inForce(a.Manifest.Server.Settings, b.Manifest.Server.Settings)
	out.pair(la, lb)
	out.adjust()
	out.Verdict = out.conclude()
	return out, nil
}

// pair pairs the ladders of two runs and compares their rungs: as many tests as there
// are in all decide what can be told.
func (c *Comparison) pair(la, lb []*walked) {
	type both struct{ a, b *walked }
	var pairs []both
	tests := 0
	for _, a := range la {
		i := slices.IndexFunc(lb, func(w *walked) bool { return w.plan.Name == a.plan.Name && w.plan.Axis == a.plan.Axis })
		if i < 0 {
			continue
		}
		l := pairLadders(a, lb[i])
		tests += 2 * len(l.Rungs)
		c.Ladders, pairs = append(c.Ladders, l), append(pairs, both{a, lb[i]})
	}
	for i, p := range pairs {
		for k := range c.Ladders[i].Rungs {
			r := &c.Ladders[i].Rungs[k]
			r.compare(p.a, p.b, p.a.out.at(&r.Value), p.b.out.at(&r.Value), tests)
		}
	}
}

func compared(rep *Report) Compared {
	h := rep.Run
	return Compared{Dir: h.Dir, RunID: h.RunID, Cell: h.Cell, Model: h.Model, Server: join(" ", h.Server.Software, h.Server.Version), Workload: h.WorkloadHash, Verdict: rep.Verdict}
}

// changed names what differs between the settings of two servers: in what is known of one
// of them or was asked for, in what rung started them with, and in the matrix. What both
// tell is the affair of inForce.
func changed(a, b *Run) []string {
	var out []string
	before, now := settingsOf(a, b), settingsOf(b, a)
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if now[name] != before[name] {
			out = append(out, fmt.Sprintf("%s: %s, before %s", name, now[name], cmp.Or(before[name], "not known")))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, ok := now[name]; !ok {
			out = append(out, fmt.Sprintf("%s: not known, before %s", name, before[name]))
		}
	}
	if ca, cb := commandOf(a), commandOf(b); len(out) == 0 && !slices.Equal(ca, cb) {
		out = append(out, fmt.Sprintf("command: %q, before %q", strings.Join(cb, " "), strings.Join(ca, " ")))
	}
	if x, y := a.cell().Name, b.cell().Name; x != y {
		out = append(out, fmt.Sprintf("cell: %q, before %q", y, x))
	}
	return out
}

// settingsOf are a server's settings, in force or else as asked for, but for those that
// both servers tell.
func settingsOf(r, other *Run) map[string]string {
	told := map[string]bool{}
	for _, s := range other.Manifest.Server.Settings {
		told[s.Name] = s.InForce != ""
	}
	out := map[string]string{}
	for _, s := range r.Manifest.Server.Settings {
		if v := cmp.Or(s.InForce, s.Asked); v != "" && (s.InForce == "" || !told[s.Name]) {
			out[s.Name] = v
		}
	}
	return out
}

func commandOf(r *Run) []string {
	if s := r.cell().Server; s != nil {
		return s.Command
	}
	return nil
}

// pairLadders pairs the rungs of equal value and shape.
func pairLadders(a, b *walked) LadderPair {
	out := LadderPair{
		Name: a.plan.Name, Axis: a.plan.Axis, Unit: a.out.Unit, Setting: a.out.Setting, Rungs: []RungPair{},
		Limit: Pair{a.out.Limit.Value, b.out.Limit.Value}, Knee: Pair{a.out.Knee.Knee, b.out.Knee.Knee},
		Edge: Pair{edgeOf(a.out), edgeOf(b.out)},
	}
	out.EdgeMoved = edgeMoved(out.Edge)
	for i := range a.out.Rungs {
		x := &a.out.Rungs[i]
		if y := b.out.at(&x.Value); y == nil || x.Shape != y.Shape || a.out.Unit != b.out.Unit {
			out.Unpaired = append(out.Unpaired, x.Value)
			continue
		}
		out.Rungs = append(out.Rungs, RungPair{Value: x.Value})
	}
	for i := range b.out.Rungs {
		if v := &b.out.Rungs[i].Value; a.out.at(v) == nil {
			out.Unpaired = append(out.Unpaired, *v)
		}
	}
	slices.Sort(out.Unpaired)
	return out
}

func edgeOf(l *Ladder) *float64 {
	if l.Edge == nil {
		return nil
	}
	return &l.Edge.Value
}

// edgeMoved says where an edge went; one that is gone went up.
func edgeMoved(p Pair) string {
	up := math.Inf(1)
	a, b := up, up
	if p.A != nil {
		a = *p.A
	}
	if p.B != nil {
		b = *p.B
	}
	switch {
	case p.A == nil && p.B == nil:
		return "none"
	case b > a:
		return "up"
	case b < a:
		return "down"
	default:
		return "same"
	}
}
