package render_test

import (
	"io"
	"regexp"
	"strings"
	"testing"

	"rung/results"
	"rung/results/render"
	"rung/results/resultstest"
	"rung/sinks/record"
	"rung/spec/plan"
)

// oneLine is a rendered report without its line breaks.
func oneLine(t *testing.T, f form, rep *results.Report) string {
	t.Helper()
	return strings.Join(strings.Fields(render1(t, f, rep, render.Options{UTF8: true})), " ")
}

func says(t *testing.T, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s does not say %q", what, w)
		}
	}
}

// Why no GPU was sampled is said once; elsewhere that memory is unknown.
func TestWithoutGPUTheReasonStandsOnce(t *testing.T) {
	o := resultstest.Small()
	o.NoGPU = true
	r := o.Run()
	const why = "the library was not found, and more words than one wants to read twice"
	r.Manifest.GPU.Reason = why
	r.Events = append(r.Events, record.Event{Kind: record.Warning, Reason: "no samples: " + why})
	for name, f := range forms() {
		text := oneLine(t, f, analyse(r))
		says(t, name, text, "memory: unknown, no GPU was sampled")
		if n := strings.Count(text, why); n != 1 && name != "json" {
			t.Errorf("%s: the reason stands %d times", name, n)
		}
	}
}

func TestKneeNotReachedIsSaidOnce(t *testing.T) {
	o := resultstest.Options{Ladders: []plan.Ladder{resultstest.Ladder("batch", plan.AxisBatch, 1, 4, 5, 1, 2, 4, 8)}}
	o.Service = func(plan.Shape) float64 { return 0.01 }
	text := oneLine(t, render.Text, analyse(o.Run()))
	says(t, "text", text, "batch: knee not reached (at least 8: extend the ladder upward)",
		"gives no limit, since the knee is not reached, at least 8: extend the ladder upward.")
}

func TestBaselineNamesItsEnds(t *testing.T) {
	r := tiny()
	r.Plan.Target.API = plan.OpenAIChat
	for i := range r.Requests {
		r.Requests[i].OutputTokens, r.Requests[i].OutputTokensPlanned = new(8), new(8)
	}
	text := oneLine(t, render.Text, analyse(r))
	if !regexp.MustCompile(`n 60, min [0-9.]+ s, median [0-9.]+ s, P95 [0-9.]+ s, max [0-9.]+ s`).MatchString(text) {
		t.Errorf("the single requests are not told by name: %s", text)
	}
	says(t, "text", text, "(of input and output together)", "(the whole latency, charged to the output alone)")
}

// A wide failed column gives way before a column goes; what goes is named.
func TestNarrowTablesSayWhatTheyLeaveOut(t *testing.T) {
	r := tiny()
	for i := range r.Requests {
		if q := &r.Requests[i]; q.Phase == record.Measure && q.Value == 32 {
			q.Outcome = []record.Outcome{record.OOM, record.Timeout, record.ServerError, record.BadResponse}[q.Index%4]
		}
	}
	text := render1(t, render.Text, analyse(r), render.Options{UTF8: true})
	says(t, "text of 100 columns", text, "in flight", "32: failed ", "server_error")
	if strings.Contains(text, "left out for want of room") {
		t.Error("a column was left out that has room")
	}
	says(t, "text of 60 columns", oneLine(t, func(w io.Writer, rep *results.Report, _ render.Options) error {
		return render.Text(w, rep, render.Options{Width: 60, UTF8: true})
	}, analyse(r)), "left out for want of room: in flight, batch/P50")
}

// What the server said of a failure stands once, as text, and how many there were.
func TestErrorsAreShown(t *testing.T) {
	for name, f := range forms() {
		text := oneLine(t, f, analyse(tiny()))
		says(t, name, text, "CUDA out of memory")
		if name == "text" {
			says(t, name, text, "oom, 8 with warm-ups and further rounds, first at 32, status 500: <b>CUDA out of memory</b>")
		}
	}
}

func TestRefusedFailuresAreTold(t *testing.T) {
	r := tiny()
	for i := range r.Requests {
		if q := &r.Requests[i]; q.Phase == record.Measure && q.Value == 4 && q.Pass == 1 && q.Round == 0 {
			q.Counted, q.RejectReason = false, "token_mismatch"
			if q.Index == 0 {
				q.Outcome = record.Timeout
			}
		}
	}
	says(t, "text", oneLine(t, render.Text, analyse(r)), "4: 1 of its 1 failure in refused rounds, on which no other figure rests; measured were 30 requests",
		"failed: of all measured requests, refused rounds too")
}

func TestSimulatedByURL(t *testing.T) {
	r := tiny()
	r.Manifest.Server.Software = "rung simulated"
	for name, f := range forms() {
		says(t, name, oneLine(t, f, analyse(r)), "the server calls itself rung simulated", "http://127.0.0.1:8000")
	}
	says(t, "text", oneLine(t, render.Text, analyse(r)), "SIMULATED: every figure")
}

// Warm-ups and a cache that only holds the template are told under validity.
func TestValidityTellsOfWarmupsAndCache(t *testing.T) {
	r := tiny()
	r.Manifest.Server.TemplateExtra = 5
	for i := range r.Requests {
		q := &r.Requests[i]
		q.CachedTokens = new(16)
		if q.Phase == record.Warmup && q.Value == 2 {
			q.Outcome = record.ServerError
		}
	}
	rep := analyse(r)
	says(t, "text", oneLine(t, render.Text, rep), `Ladder "batch" at 2: 9 of 9 warm-ups failed, 9 server_error.`, "no more of any request than the chat template that all share")
	if len(rep.Notices) != 0 {
		t.Errorf("notices %q", rep.Notices)
	}
}
