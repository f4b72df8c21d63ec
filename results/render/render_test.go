package render_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"rung/results"
	"rung/results/render"
	"rung/results/resultstest"
	"rung/sinks/record"
	"rung/spec/plan"
)

var update = flag.Bool("update", false, "write the golden files")

type form func(io.Writer, *results.Report, render.Options) error

func forms() map[string]form {
	return map[string]form{"text": render.Text, "markdown": render.Markdown, "json": render.JSON, "html": render.HTML}
}

// tiny is a short run with a knee, an edge and memory.
func tiny() *resultstest.Recorded {
	return resultstest.Options{
		Ladders: []plan.Ladder{resultstest.Ladder("batch", plan.AxisBatch, 3, 2, 5, 1, 2, 4, 8, 16, 32)},
		Fails: func(s plan.Shape) (record.Outcome, int) {
			if s.Batch >= 32 {
				return record.OOM, 2
			}
			return record.OK, 0
		},
	}.Run()
}

func analyse(r *resultstest.Recorded) *results.Report {
	return results.Analyse(r.Sealed(), r.Plan.Analysis)
}

func render1(t *testing.T, f form, rep *results.Report, o render.Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b, rep, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	rep := analyse(tiny())
	for name, c := range map[string]struct {
		f form
		o render.Options
	}{
		"report.txt":        {render.Text, render.Options{UTF8: true}},
		"report-narrow.txt": {render.Text, render.Options{Width: 60}},
		"report-color.txt":  {render.Text, render.Options{Width: 120, UTF8: true, Color: true}},
		"report.md":         {render.Markdown, render.Options{}},
		"report.json":       {render.JSON, render.Options{}},
		"report.html":       {render.HTML, render.Options{}},
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, render1(t, c.f, rep, c.o)) })
	}
}

// golden holds a text against the file of a name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("changed (-want +got), see -update:\n%s", d)
	}
}

func TestNarrowIsReadable(t *testing.T) {
	for _, width := range []int{60, 80, 100} {
		for _, utf := range []bool{false, true} {
			got := render1(t, render.Text, analyse(resultstest.Small().Run()), render.Options{Width: width, UTF8: utf})
			for l := range strings.Lines(got) {
				l = strings.TrimRight(l, "\n")
				code := strings.HasPrefix(l, "  select") || strings.HasPrefix(l, "  from") || strings.HasPrefix(l, "  where") || strings.HasPrefix(l, "  group")
				if n := utf8.RuneCountInString(l); n > width && !code {
					t.Errorf("%d columns of %d: %s", n, width, l)
				}
				if strings.IndexFunc(l, func(r rune) bool { return r > unicode.MaxASCII }) >= 0 && !utf {
					t.Errorf("not ASCII: %s", l)
				}
			}
		}
	}
}

func TestColourIsAsked(t *testing.T) {
	rep := analyse(tiny())
	if got := render1(t, render.Text, rep, render.Options{UTF8: true}); strings.Contains(got, "\x1b") {
		t.Error("colour where none was asked for")
	}
	coloured := render1(t, render.Text, rep, render.Options{UTF8: true, Color: true})
	plain := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(coloured, "")
	if d := cmp.Diff(render1(t, render.Text, rep, render.Options{UTF8: true}), plain); d != "" {
		t.Errorf("colour moves the text (-plain +coloured):\n%s", d)
	}
}

func TestSimulatedIsSaidEverywhere(t *testing.T) {
	r := tiny()
	words := map[string]string{"text": "SIMULATED", "markdown": "SIMULATED", "json": `"simulated": true`, "html": "SIMULATED"}
	for name, f := range forms() {
		if strings.Contains(strings.ToLower(render1(t, f, analyse(r), render.Options{})), "simulated") {
			t.Errorf("%s of a real run says simulated", name)
		}
	}
	r.Manifest.Simulated = true
	for name, f := range forms() {
		got := render1(t, f, analyse(r), render.Options{})
		if !strings.Contains(got, words[name]) || !strings.Contains(got, "Of a simulated server: configure") {
			t.Errorf("%s does not say %s", name, words[name])
		}
	}
}

// What servers and specs say is shown as text, whatever it holds.
func TestHostileTexts(t *testing.T) {
	const evil = "<script>alert(1)</script>\x1b[2J\x07\u202eevil\u2066\u0085|`*[x](http://evil)\r\n#"
	r := tiny()
	r.Spec = "experiment \"x\" {} # " + evil
	r.Manifest.Experiment, r.Manifest.Error, r.Manifest.Status = "embed", evil, record.Failed
	r.Plan.Description, r.Plan.Target.Model = evil, evil
	r.Manifest.Server = record.Server{Software: evil, Version: evil, Models: []string{evil}, InputForm: evil, Tokeniser: evil}
	r.Manifest.Variables = map[string]string{evil: evil}
	r.Manifest.GPUs[0].Name, r.Manifest.GPU.Warnings = evil, evil
	r.Plan.Cells[0].Ladders[0].Name = evil
	for i := range r.Requests {
		if q := &r.Requests[i]; q.Ladder == "batch" {
			q.Ladder = evil
			if q.Value == 8 && q.Round == 1 && q.Phase == record.Measure {
				q.Counted, q.RejectReason = false, evil
			}
		}
	}
	for i := range r.Samples {
		r.Samples[i].Name = evil
	}
	for i := range r.Events {
		if e := &r.Events[i]; e.Ladder == "batch" {
			e.Ladder, e.Reason = evil, evil
		}
	}
	for name, f := range forms() {
		got := render1(t, f, analyse(r), render.Options{UTF8: true})
		for _, c := range got {
			if c != '\n' && c != '\t' && unicode.IsControl(c) || strings.ContainsRune("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f", c) {
				at := strings.IndexRune(got, c)
				t.Errorf("%s holds the character %U: %q", name, c, got[max(0, at-60):at])
				break
			}
		}
		if name == "html" || name == "markdown" {
			// In Markdown code stands between fences, which hold it.
			body := regexp.MustCompile("(?s)\n(```+)[a-z]*\n.*?\n```").ReplaceAllString(got, "")
			if strings.Contains(body, "<script") {
				t.Errorf("%s holds a script", name)
			}
		}
	}
}

// The page takes nothing from elsewhere, and every id stands once.
func TestPageIsSelfContained(t *testing.T) {
	got := render1(t, render.HTML, analyse(resultstest.Small().Run()), render.Options{})
	ids := selfContained(t, got)
	for _, id := range []string{"batch", "batch-16", "concurrency-4", "provenance"} {
		if !ids[id] {
			t.Errorf("no id %s", id)
		}
	}
}

// selfContained holds that a page takes nothing from elsewhere, that it links to no more
// than it may, and that every id stands once, also those that others name. It gives the ids.
func selfContained(t *testing.T, got string, links ...string) map[string]bool {
	t.Helper()
	for _, m := range regexp.MustCompile(`(?:src|href|url)\s*[=(]\s*["']?([^"')]*)`).FindAllStringSubmatch(got, -1) {
		if !strings.HasPrefix(m[1], "data:") && !strings.HasPrefix(m[1], "#") && !slices.Contains(links, m[1]) {
			t.Errorf("the page takes %s", m[1])
		}
	}
	if strings.Contains(got, "<script") || strings.Contains(got, "@import") {
		t.Error("the page has a script or an import")
	}
	ids := map[string]bool{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(got, -1) {
		if ids[m[1]] {
			t.Errorf("id %s stands twice", m[1])
		}
		ids[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`aria-labelledby="([^"]*)"`).FindAllStringSubmatch(got, -1) {
		for id := range strings.FieldsSeq(m[1]) {
			if !ids[id] {
				t.Errorf("labelled by %s, which is not there", id)
			}
		}
	}
	if strings.Contains(got, "NaN") || strings.Contains(got, "Inf") {
		t.Error("a figure that is none was drawn")
	}
	return ids
}

// The text shows P95 so that a query's value rounded to four decimals is it.
func TestP95HasFourDecimals(t *testing.T) {
	rep := analyse(tiny())
	got := render1(t, render.Text, rep, render.Options{UTF8: true})
	for _, r := range rep.Ladders[0].Rungs {
		if want := fmt.Sprintf("%.4f", r.Latency.P95S); !strings.Contains(got, want) {
			t.Errorf("P95 %s of rung %g is not shown", want, r.Value)
		}
	}
}

func TestJSONIsTheReport(t *testing.T) {
	rep := analyse(tiny())
	var back results.Report
	if err := json.Unmarshal([]byte(render1(t, render.JSON, rep, render.Options{})), &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(rep, &back, ofPictures()); d != "" {
		t.Errorf("the report changed on its way through JSON (-want +got):\n%s", d)
	}
}

// Whatever a run lacks, every form has something to say.
func TestPoorRuns(t *testing.T) {
	for name, change := range map[string]func(*resultstest.Recorded){
		"nothing":    func(r *resultstest.Recorded) { r.Requests, r.Samples, r.Events = nil, nil, nil },
		"no ladder":  func(r *resultstest.Recorded) { r.Plan.Cells[0].Ladders, r.Plan.Cells[0].Baseline = nil, nil },
		"no success": func(r *resultstest.Recorded) { all(r, func(q *record.Request) { q.Outcome = record.ServerError }) },
		"none counts": func(r *resultstest.Recorded) {
			all(r, func(q *record.Request) { q.Counted, q.RejectReason = false, "token_mismatch" })
		},
		"no GPU": func(r *resultstest.Recorded) { r.Samples, r.Manifest.GPUs = nil, nil },
		"one rung": func(r *resultstest.Recorded) {
			l := &r.Plan.Cells[0].Ladders[0]
			l.Rungs = l.Rungs[:1]
		},
		"no time": func(r *resultstest.Recorded) {
			all(r, func(q *record.Request) { q.DoneTS, q.DueTS = q.SentTS, q.SentTS })
		},
		"equal rungs": func(r *resultstest.Recorded) {
			l := &r.Plan.Cells[0].Ladders[0]
			l.Rungs[1].Value, l.Rungs[2].Value = 1, 0
		},
		"all rungs equal": func(r *resultstest.Recorded) {
			for i := range r.Plan.Cells[0].Ladders[0].Rungs {
				r.Plan.Cells[0].Ladders[0].Rungs[i].Value = 4
			}
		},
		"odd times": func(r *resultstest.Recorded) {
			all(r, func(q *record.Request) { q.DoneTS = []float64{math.NaN(), math.Inf(1), 1e308, -1}[q.Index%4] })
		},
		"no elasticity": func(r *resultstest.Recorded) { r.Plan.Analysis.Knee.Elasticity = 0 },
		"no tie":        func(r *resultstest.Recorded) { r.Plan.Analysis.Knee.Tie = 1e300 },
		"silent": func(r *resultstest.Recorded) {
			r.Plan.Target.API = plan.OpenAIChat
			all(r, func(q *record.Request) { q.OutputTokens, q.OutputTokensPlanned = new(0), new(8) })
		},
		"no total": func(r *resultstest.Recorded) {
			for i := range r.Samples {
				r.Samples[i].MemTotalBytes = nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := tiny()
			change(r)
			rep := analyse(r)
			for form, f := range forms() {
				got := render1(t, f, rep, render.Options{UTF8: true})
				if len(got) < 200 || strings.Contains(got, "NaN") || strings.Contains(got, "Inf") {
					t.Errorf("%s of %d bytes, or with a figure that is none", form, len(got))
				}
			}
			if rep.Verdict == "" {
				t.Error("no verdict")
			}
			if _, err := render.PictureFiles(rep); err != nil {
				t.Error(err)
			}
		})
	}
}

func all(r *resultstest.Recorded, change func(*record.Request)) {
	for i := range r.Requests {
		change(&r.Requests[i])
	}
}

// ofPictures are the views of the rows that only the page has.
func ofPictures() cmp.Option {
	return cmp.Options{cmpopts.IgnoreFields(results.Report{}, "Timeline"), cmpopts.IgnoreFields(results.Ladder{}, "Histogram")}
}
