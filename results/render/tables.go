package render

import (
	"fmt"
	"strconv"
	"strings"

	"rung/results"
	"rung/sinks/record"
	"rung/spec/plan"
)

// table is a table in every form: cells are safe text.
type table struct {
	caption string
	head    []column
	rows    [][]string
	notes   []string  // what the marks in the cells mean
	bars    []float64 // of each row, from 0 to 1, where there is room; nil for none
}

// column is one column's head.
type column struct {
	name string
	left bool // text; figures stand to the right
	wide bool // left out where there is little room

	// short are shorter cells for where there is little room, and rest what they
	// leave out, as notes.
	short, rest []string

	folded bool   // the name stands on two lines, where there is little room
	note   string // what the column is, where its name is too short to say
}

// footnotes are what stands below the table: what the columns are, in one line,
// then the rest.
func (t *table) footnotes() []string {
	var what []string
	for _, c := range t.head {
		if c.note != "" {
			what = append(what, c.name+": "+c.note)
		}
	}
	if len(what) == 0 {
		return t.notes
	}
	return append([]string{strings.Join(what, "; ")}, t.notes...)
}

const (
	fewRequests = "*"
	fewSamples  = "†"
	fewestRows  = 5 // samples of a rung below which its peak is marked
)

// axisHead is what a rung's value counts.
func axisHead(a plan.Axis) string {
	switch a {
	case plan.AxisInputTokens:
		return "tokens"
	case plan.AxisOutputTokens:
		return "output tokens"
	default:
		return string(a)
	}
}

// throughputTable is what each rung did, and what it brought over the rung below.
func throughputTable(l *results.Ladder) table {
	t := table{caption: "Throughput, " + l.Unit, head: []column{
		{name: axisHead(l.Axis)}, {name: "n", note: "counted successes"},
		{name: "failed", left: true, note: "of all measured requests, refused rounds too, as the stop rule looks at them"},
		{name: "throughput"}, {name: "gain", wide: true, note: "over the rung below"}, {name: "gain, %"},
		{name: "gain / gain before", wide: true, note: "under 1 a step brings less than the one before"},
		{name: "batch/P50", wide: true, note: "inputs of a request over its median latency, a second"},
		{name: "in flight", wide: true, note: "requests, on average over the steady part"}, {name: "", left: true},
	}}
	most := 0.0
	for _, r := range l.Rungs {
		if r.Throughput != nil {
			most = max(most, *r.Throughput)
		}
	}
	for _, r := range l.Rungs {
		gain, pct, over := unknown, unknown, unknown
		if i := r.Increment; i != nil {
			gain, pct = signedDigits(i.Absolute), percent(i.Relative)
			if i.OverBefore != nil {
				over = fmt.Sprintf("%.2f", *i.OverBefore)
			}
		}
		t.rows = append(t.rows, []string{
			value(r.Value), strconv.Itoa(counted(r)), failed(r.Failures), rate(r.Throughput), gain, pct, over, rate(r.InputsPerP50), rate(r.MeanInFlight), marks(r.Marks),
		})
		if r.FailedRefused > 0 {
			t.notes = append(t.notes, fmt.Sprintf("%s: %d of its %s in refused rounds, on which no other figure rests; measured were %d requests",
				value(r.Value), r.FailedRefused, plural(count(r.Failures), "failure", "failures"), r.Sent))
		}
		few, rest := shortFailed(r)
		t.head[2].short = append(t.head[2].short, few)
		if rest != "" {
			t.head[2].rest = append(t.head[2].rest, rest)
		}
		bar := 0.0
		if r.Throughput != nil && most > 0 {
			bar = *r.Throughput / most
		}
		t.bars = append(t.bars, bar)
	}
	t.notes = append(t.notes, unsaid(l)...)
	if l.Axis != plan.AxisBatch {
		t.drop("batch/P50")
	}
	if !l.Axis.HasKnee() { // a rung is other work than the one below: there is no gain
		for _, name := range []string{"gain", "gain, %", "gain / gain before"} {
			t.drop(name)
		}
	}
	t.explain(l)
	return t
}

// markWords explains the marks that a ladder has.
func markWords(l *results.Ladder) string {
	has := map[results.Mark]bool{}
	for _, r := range l.Rungs {
		for _, m := range r.Marks {
			has[m] = true
		}
	}
	var out []string
	for _, m := range []struct {
		mark results.Mark
		is   string
	}{
		{results.MarkLimit, "what to configure"}, {results.MarkBest, "the last rung that pays"}, {results.MarkKnee, "the first that no longer pays"},
		{results.MarkCapacity, "the last rate that held"},
		{results.MarkBoundary, "the last that passed below the edge"}, {results.MarkEdge, edgeIs(l)},
	} {
		if has[m.mark] {
			out = append(out, string(m.mark)+": "+m.is)
		}
	}
	return strings.Join(out, "; ")
}

// edgeIs says what an edge is to its ladder.
func edgeIs(l *results.Ladder) string {
	if l.Edge != nil && l.Edge.Kind == results.EdgeSlow {
		return "the first that is too slow, and does not fail"
	}
	return "the first that fails"
}

// said is the first of the failures under one name, in the server's words.
func said(l *results.Ladder, s results.Said) string {
	measured := 0
	for _, r := range l.Rungs {
		for _, f := range r.Failures {
			if f.Name == s.Name {
				measured += f.N
			}
		}
	}
	text := fmt.Sprintf("%s, %d", s.Name, s.N)
	if s.N > measured {
		text += " with warm-ups and further rounds"
	}
	text += ", first at " + value(s.Value)
	if s.Phase != record.Measure {
		text += fmt.Sprintf(" (%s)", s.Phase)
	}
	if s.Status != nil {
		text += fmt.Sprintf(", status %d", *s.Status)
	}
	if s.Text != "" {
		text += ": " + s.Text
	}
	return safe(text)
}

// shortFailed is the number of failures, and their names for a note.
func shortFailed(r results.Rung) (few, names string) {
	n := count(r.Failures)
	if n == 0 {
		return "0", ""
	}
	return strconv.Itoa(n), value(r.Value) + ": failed " + failed(r.Failures)
}

// longName is a head that is worth folding.
const longName = 12

// fit makes a table narrower until it has so many columns, if it can: cells are
// shortened and heads folded, then columns marked wide go one by one from the right, which is said.
func (t *table) fit(columns int) {
	for i := range t.head {
		t.head[i].folded = t.width() > columns && width(t.head[i].name) >= longName
	}
	for i := 0; i < len(t.head) && t.width() > columns; i++ {
		if c := t.head[i]; c.short != nil {
			for j := range t.rows {
				t.rows[j][i] = c.short[j]
			}
			t.notes = append(t.notes, c.rest...)
		}
	}
	var without []string
	for i := len(t.head) - 1; i >= 0 && t.width() > columns; i-- {
		if t.head[i].wide {
			without = append(without, t.head[i].name)
			t.drop(t.head[i].name)
		}
	}
	if len(without) > 0 {
		t.notes = append(t.notes, "left out for want of room: "+strings.Join(without, ", "))
	}
}

// gap is the blanks between two columns.
const gap = "  "

// lines are the two lines of a head: a folded name is cut at the stroke between two
// names, else at its first blank.
func (c column) lines() (above, below string) {
	for _, sep := range []string{" / ", " "} {
		if a, b, ok := strings.Cut(c.name, sep); ok && c.folded {
			return a + strings.TrimRight(sep, " "), b
		}
	}
	return "", c.name
}

// widths are those of the columns, as text.
func (t *table) widths() []int {
	out := make([]int, len(t.head))
	for i, c := range t.head {
		above, below := c.lines()
		out[i] = max(width(above), width(below))
		for _, r := range t.rows {
			out[i] = max(out[i], width(r[i]))
		}
	}
	return out
}

func (t *table) width() int {
	n := 0
	for _, w := range t.widths() {
		n += w + len(gap)
	}
	return n - len(gap)
}

func signedDigits(x float64) string {
	if x >= 0 {
		return "+" + digits(x)
	}
	return digits(x)
}

// drop takes a column out.
func (t *table) drop(name string) {
	for i, c := range t.head {
		if c.name != name {
			continue
		}
		t.head = append(t.head[:i:i], t.head[i+1:]...)
		for j, row := range t.rows {
			t.rows[j] = append(row[:i:i], row[i+1:]...)
		}
		return
	}
}
