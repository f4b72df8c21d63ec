package render

import (
	"embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"unicode"

	"rung/results"
)

//go:embed page
var pageFiles embed.FS

// HTML writes the report as one file that needs nothing else: no script, no font,
// no network. It follows the reader's light or dark theme, and prints.
func HTML(w io.Writer, rep *results.Report, _ Options) error {
	return writePage(w, "page.tmpl", newPage(rep))
}

// writePage fills one of the page templates, which share their parts and the style sheet.
func writePage(w io.Writer, name string, p any) error {
	css, err := pageFiles.ReadFile("page/page.css")
	if err != nil {
		return fmt.Errorf("render HTML: %w", err)
	}
	t, err := template.New(name).Funcs(template.FuncMap{
		"css": func() template.CSS { return template.CSS(css) }, "glyph": glyph, "marksOf": marksOf, "nb": unbroken,
	}).ParseFS(pageFiles, "page/*.tmpl")
	if err != nil {
		return fmt.Errorf("render HTML: %w", err)
	}
	return t.Execute(w, p)
}

// unbroken keeps a per cent sign with its number.
func unbroken(s string) string { return strings.ReplaceAll(s, " %", glue+"%") }

// page is what the template shows. All its strings are safe texts; the template
// escapes them.
type page struct {
	Title       string
	Description string
	Band        string
	Verdict     string
	Byline      string
	Chips       []string
	Notices     []string
	Groups      []group
	Ladders     []ladderPage
	Timeline    *picture
	Equal       []tablePage
	Memory      [][2]string
	Bar         []segment
	Baseline    [][2]string
	Configs     []configPage
	Validity    []string
	Provenance  [][2]string
	Queries     []queryPage
	Spec        string
	Rung        string
}

// queryPage is the query that gives a ladder's rows, where its figures lead to.
type queryPage struct{ ID, Text string }

// configPage is a configuration in one form.
type configPage struct{ Form, Text string }

// group is the tiles of one ladder, or of the run.
type group struct {
	Name  string
	Tiles []tile
}

type tile struct {
	Name, Value, Note string
	Mark              results.Mark
	Lead              bool // the one to look at first
	Muted             bool // no figure
}

// Words says that the value is a word, which needs more room than a figure.
func (t tile) Words() bool { return t.Value != "" && unicode.IsLetter([]rune(t.Value)[0]) }

type ladderPage struct {
	ID, Name string
	Findings []string
	Beside   []string // behind a fold
	Pictures []picture
	Tables   []tablePage
}

// tablePage is a table with anchors: a link to #batch-16 opens at that rung.
type tablePage struct {
	Caption string
	Head    []headPage
	Rows    []rowPage
	Notes   []string
}

type headPage struct {
	Name string
	Left bool
}

type rowPage struct {
	ID    string
	Class string
	Cells []cellPage
}

type cellPage struct {
	Text  string
	Left  bool
	Marks []results.Mark
}

func newPage(rep *results.Report) page {
	p := page{
		Title: safe(rep.Run.Experiment), Description: safe(rep.Run.Description), Verdict: safe(rep.Verdict), Byline: safe(byline(rep)),
		Notices: safeAll(rep.Notices), Memory: memoryPairs(rep), Bar: memoryBar(rep), Baseline: baselinePairs(rep),
		Validity: safeAll(validity(rep)), Provenance: provenance(rep), Spec: safeLines(rep.Spec), Rung: safe(rep.Run.Rung),
	}
	if rep.Simulated {
		p.Band = simulatedBand
	}
	p.Chips = safeAll([]string{"spec " + short(rep.Run.SpecHash), "git " + git(rep.Run), string(rep.Run.Status)})
	for _, c := range rep.Configs {
		p.Configs = append(p.Configs, configPage{safe(c.Form), configText(c)})
	}
	ids := sectionIDs()
	for i := range rep.Ladders {
		l := &rep.Ladders[i]
		id := anchor(l.Name, ids)
		p.Groups = append(p.Groups, group{Name: fmt.Sprintf("Ladder %q", safe(l.Name)), Tiles: tiles(l)})
		lp := ladderPage{ID: id, Name: safe(l.Name), Findings: safeAll(l.Findings), Beside: besideWords(l)}
		if len(l.Rungs) > 0 {
			lp.Pictures = pictures(rep, l, id)
			if h := histogramPicture(l, id); h != nil {
				lp.Pictures = append(lp.Pictures, *h)
			}
			for i, t := range tables(rep, l) {
				at := ""
				if i == 0 { // the anchors of the rungs stand once
					at = id
				}
				lp.Tables = append(lp.Tables, pageTable(t, l, at))
			}
		}
		p.Ladders = append(p.Ladders, lp)
		p.Queries = append(p.Queries, queryPage{"ask-" + id, safeLines(l.Query)})
	}
	for _, t := range equalTables(rep) {
		p.Equal = append(p.Equal, plainTable(t))
	}
	p.Timeline = timelinePicture(rep)
	h := headroomFigure(rep)
	q := quietFigure(rep)
	p.Groups = append(p.Groups, group{Name: "The run", Tiles: []tile{
		{Name: h.name, Value: h.value, Note: h.note, Muted: rep.Memory.Headroom.AvailableBytes == nil},
		{Name: q.name, Value: q.value, Note: q.note, Muted: q.value == "unknown"},
	}})
	return p
}

// quietFigure is the verdict on the baseline.
func quietFigure(rep *results.Report) figure {
	f := figure{"baseline", "unknown", safe(rep.Baseline.Verdict)}
	if rep.Baseline.P95OverMedian != nil {
		f.value, f.note, _ = strings.Cut(f.note, ": ")
	}
	return f
}

func tiles(l *results.Ladder) []tile {
	var out []tile
	marks := map[string]results.Mark{"limit": results.MarkLimit, "knee": results.MarkKnee, "boundary": results.MarkBoundary, "edge": results.MarkEdge, "capacity": results.MarkCapacity}
	for _, f := range ladderFigures(l) {
		t := tile{Name: f.name, Value: f.value, Note: f.note, Mark: marks[f.name], Lead: f.name == "limit" || f.name == "capacity"}
		t.Muted = f.value == "none" || f.value == "not reached" || f.value == "unknown" || f.value == results.Undetermined
		out = append(out, t)
	}
	return out
}

// anchor is an id for a name: harmless characters, unlike those before.
func anchor(name string, taken map[string]bool) string {
	id := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '-'
	}, name)
	for taken[id] || id == "" {
		id += "-"
	}
	taken[id] = true
	return id
}

// sectionIDs are those of the page's own sections, which no ladder's may be.
func sectionIDs() map[string]bool {
	out := map[string]bool{}
	for _, id := range []string{"notices", "figures", "equal", "timeline", "memory", "baseline", "config", "validity", "provenance", "ask", "spec"} {
		out[id] = true
	}
	return out
}

// plainTable is a table without anchors and marks.
func plainTable(t table) tablePage {
	out := tablePage{Caption: t.caption, Notes: t.footnotes()}
	for _, c := range t.head {
		out.Head = append(out.Head, headPage{c.name, c.left})
	}
	for _, row := range t.rows {
		r := rowPage{}
		for j, c := range row {
			r.Cells = append(r.Cells, cellPage{Text: c, Left: t.head[j].left})
		}
		out.Rows = append(out.Rows, r)
	}
	return out
}

// pageTable gives a table its anchors, in the first of a ladder's tables, and its
// marks as glyphs.
func pageTable(t table, l *results.Ladder, id string) tablePage {
	out := plainTable(t)
	taken := map[string]bool{}
	for i, row := range t.rows {
		r := &out.Rows[i]
		if at := id + "-" + value(l.Rungs[i].Value); id != "" && !taken[at] {
			r.ID, taken[at] = at, true
		}
		if len(l.Rungs[i].Marks) > 0 {
			r.Class = "row-" + string(l.Rungs[i].Marks[0])
		}
		if last := len(row) - 1; id != "" {
			more := strings.TrimPrefix(strings.TrimPrefix(row[last], marks(l.Rungs[i].Marks)), ", ")
			r.Cells[last] = cellPage{Text: more, Left: true, Marks: l.Rungs[i].Marks}
		}
	}
	return out
}

// marksOf shows marks with their names.
func marksOf(m []results.Mark) template.HTML {
	var b strings.Builder
	for _, x := range m {
		fmt.Fprintf(&b, `<span class="badge">%s%s</span>`, glyph(x), template.HTMLEscapeString(string(x)))
	}
	return template.HTML(b.String())
}

// segment is a part of the memory bar.
type segment struct {
	Class, Name, Size string
	Share             float64 // of the total, percent
}

// memoryBar is the sum of the headroom as a bar; nil where it is not known.
func memoryBar(rep *results.Report) []segment {
	h, total := rep.Memory.Headroom, rep.Memory.TotalBytes
	if h.AvailableBytes == nil || total == nil || *h.AvailableBytes < 0 {
		return nil
	}
	idle := int64(0)
	if rep.Baseline.IdleBytes != nil {
		idle = min(*rep.Baseline.IdleBytes, h.PeakBytes)
	}
	parts := []struct {
		class, name string
		n           int64
	}{
		{"m-idle", "idle", idle}, {"m-peak", "peak over idle at the limit", h.PeakBytes - idle}, {"m-reserve", "reserve", h.ReserveBytes},
		{"m-free", "available", *h.AvailableBytes}, {"m-safety", "safety", h.SafetyBytes}, {"m-driver", "driver", h.ReservedBytes},
	}
	var out []segment
	for _, p := range parts {
		if p.n > 0 {
			out = append(out, segment{p.class, p.name, bytes(p.n), 100 * float64(p.n) / float64(*total)})
		}
	}
	return out
}
