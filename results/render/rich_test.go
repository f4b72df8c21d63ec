package render_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"rung/results"
	"rung/results/render"
	"rung/results/resultstest"
	"rung/sinks/record"
	"rung/spec/plan"
)

// open is a chat server under arrivals, longer outputs and more at once, streamed and
// held against objectives.
func open() resultstest.Options {
	slow := resultstest.Ladder("concurrency", plan.AxisConcurrency, 3, 1, 40, 1, 2, 4, 8, 16)
	return resultstest.Options{
		API: plan.OpenAIChat, Chat: true, Stream: true, NoGPU: true, Slots: 8,
		SLO:     &plan.SLO{Latency: plan.Duration(500 * time.Millisecond), TTFT: plan.Duration(100 * time.Millisecond)},
		Service: func(s plan.Shape) float64 { return 0.05 + 0.002*float64(max(64, s.OutputTokens)) },
		Ladders: []plan.Ladder{
			resultstest.Ladder("rate", plan.AxisRate, 2, 1, 20, 1, 10, 20, 40, 60, 80),
			resultstest.Ladder("output", plan.AxisOutputTokens, 1, 4, 10, 64, 128, 256, 512),
			slow,
		},
	}
}

// whole is an embedding server that is started again between its ladders, whose limits
// are checked, with an edge that is no failure and a client that was looked at.
func whole() *resultstest.Recorded {
	batch := resultstest.Ladder("batch", plan.AxisBatch, 3, 4, 20, 1, 2, 4, 8, 16)
	length := resultstest.Ladder("length", plan.AxisInputTokens, 1, 4, 15, 512, 1024, 2048, 4096)
	batch.Prompt.Kind, length.Prompt.Kind = "Chinese news", "Chinese news"
	batch.Stop.P95OverBaseline = new(2.0)
	r := resultstest.Options{
		Ladders: []plan.Ladder{batch, length}, Server: &plan.Server{Command: []string{"serve"}},
		Retests: []plan.Retest{{Ladder: "batch", Prompt: plan.Prompt{Name: "long", Kind: "code"}, Tokens: 2048, Warmup: 2, Requests: 40}},
		Confirm: &plan.Check{Prompt: plan.Prompt{Name: "p512"}, Tokens: 512, Warmup: 2, Requests: 60},
		Limits:  map[string]float64{"batch": 4, "length": 4096},
		Floor:   &record.Floor{InFlight: 1, Requests: 1000, RatePerS: 150, P50S: 0.001, P95S: 0.002},
	}.Run()
	for i := range r.Requests {
		q := &r.Requests[i]
		if q.Phase == record.Measure && q.Value == 2 && q.Round == 0 {
			q.Counted, q.RejectReason = false, []string{
				"client_limited: the P95 of sends was 1.4 ms late, and a request takes 12.0 ms", "client_limited: the P95 of sends was 1.2 ms late, and a request takes 12.0 ms",
				"throttled: the GPU gave a slowdown as its throttle reason (bits 0x8)",
			}[q.Pass]
		}
	}
	at := record.Place{Phase: record.Measure, Ladder: "batch", Value: 8}
	r.Events = append(r.Events,
		record.Event{Kind: record.ClockStep, TS: 12.3, Reason: "the wall clock stepped by -25000.000 s"},
		record.Event{Kind: record.SettleEnd, Place: at, TS: 14, Reason: "given up after 30.0 s: memory is 0.40 GiB above the idle time's"})
	idle := r.Requests[len(r.Requests)-1]
	idle.Outcome, idle.ResetIdle, idle.Counted = record.Reset, true, false
	r.Requests = append(r.Requests, idle)
	return r
}

// pooled is a streamed chat server on a pool that it took at its start, whose own page
// and card were read.
func pooled() *resultstest.Recorded {
	return resultstest.Options{
		API: plan.OpenAIChat, Chat: true, Stream: true, Idle: 20 * resultstest.GiB, Used: func(plan.Shape) int64 { return 20*resultstest.GiB + 64<<20 },
		Service: func(plan.Shape) float64 { return 0.5 },
		Ladders: []plan.Ladder{resultstest.Ladder("concurrency", plan.AxisConcurrency, 3, 1, 40, 1, 2, 4, 8, 16)},
		Page: func(s plan.Shape) map[string]float64 {
			n := float64(s.InFlight)
			return map[string]float64{"running": min(n, 4), "waiting": max(0, n-4), "kv_usage": min(0.97, 0.1+0.15*min(n, 4))}
		},
		Card: func(_ plan.Shape, s *record.Sample) {
			s.PowerW, s.SMClockMHz, s.UtilGPUPct = new(66.0), new(1980.0), new(100.0)
		},
	}.Run()
}

func TestGoldenOfLoads(t *testing.T) {
	for name, r := range map[string]*resultstest.Recorded{"open": open().Run(), "whole": whole(), "pool": pooled()} {
		rep := analyse(r)
		golden(t, name+".txt", render1(t, render.Text, rep, render.Options{UTF8: true}))
		golden(t, name+".md", render1(t, render.Markdown, rep, render.Options{}))
	}
}

// What a run with all of the language has is in every form.
func TestLoadsAreInEveryForm(t *testing.T) {
	rep := analyse(open().Run())
	for _, name := range []string{"text", "markdown", "html"} {
		says(t, name, oneLine(t, forms()[name], rep),
			"capacity", "P95 at 70 %", "saturated", "Arrivals and answers", "dropped", "offered", "Time to first token, s", "Time per output token after the first, ms",
			"a chunk is not a token", "finish reasons", "Goodput: requests that meet latency 500 ms, TTFT 100 ms", "slope")
	}
	says(t, "JSON", oneLine(t, render.JSON, rep), `"capacity"`, `"open_loop"`, `"ttft"`, `"chunk_gaps"`, `"goodput"`, `"latency_slope"`, `"slo"`)
	rep = analyse(whole())
	for _, name := range []string{"text", "markdown", "html"} {
		text := strings.NewReplacer(`\_`, "_", "&#34;", `"`, "&#39;", "'", glue, " ").Replace(oneLine(t, forms()[name], rep))
		says(t, name, text,
			`Retest of ladder "batch" at 4`, "code): confirmed", "Confirmation of all limits at once", "The server was started again at", `before ladder "length"`,
			"Self-check of the client: 150.0 requests/s with 1 in flight", "came within a factor of two of the client itself", "its longest stall", "the wall clock stepped by",
			"the card did not come back", `Ladder "batch" at 2: 2 rounds refused: client_limited (the P95 of sends was 1.2 to 1.4 ms late`, "1 request met a connection",
			"is too slow: P95", "no failure", "640.0 KiB a token of the batch", "it is the product, the tokens in the batch, that binds",
			"confirmed by the retest and the confirmation", `Ladder "length": 1 pass planned, 1 whole.`, "no concurrency ladder")
	}
	says(t, "JSON", oneLine(t, render.JSON, rep), `"checks"`, `"client"`, `"restarts"`, `"slopes"`, `"kind": "slow"`)
}

const glue = "\u00a0"

func TestLoadsThroughJSON(t *testing.T) {
	for _, r := range []*resultstest.Recorded{open().Run(), whole()} {
		rep := analyse(r)
		var back results.Report
		if err := json.Unmarshal([]byte(render1(t, render.JSON, rep, render.Options{})), &back); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(rep, &back, ofPictures()); d != "" {
			t.Errorf("the report changed on its way through JSON (-want +got):\n%s", d)
		}
	}
}

func TestLoadsFitTheTerminal(t *testing.T) {
	for _, r := range []*resultstest.Recorded{open().Run(), whole()} {
		rep := analyse(r)
		for _, width := range []int{60, 80, 100, 120} {
			for l := range strings.Lines(render1(t, render.Text, rep, render.Options{Width: width, UTF8: true})) {
				l = strings.TrimRight(l, "\n")
				if n := utf8.RuneCountInString(l); n > width && !strings.HasPrefix(l, "  ") {
					t.Errorf("%d columns of %d: %s", n, width, l)
				}
			}
		}
	}
}

// Whatever stands in the new places, it is shown as text.
func TestHostileLoads(t *testing.T) {
	const evil = "<script>alert(1)</script>\x1b[2J\u202eevil|`*[x](http://evil)\r\n#"
	r := open().Run()
	for i := range r.Requests {
		r.Requests[i].FinishReason = evil
	}
	r.Plan.Cells[0].Ladders[0].Arrivals = evil
	w := whole()
	for i := range w.Events {
		w.Events[i].Reason = "given up " + evil
	}
	cell := &w.Plan.Cells[0]
	cell.Retests[0].Prompt.Kind, cell.Confirm.Prompt.Kind, cell.Ladders[0].Prompt.Kind = evil, evil, evil
	w.Manifest.Client.Floor, w.Manifest.Client.Unchecked = nil, evil
	for i := range w.Samples {
		w.Samples[i].Name = evil
	}
	for i := range w.Requests {
		if q := &w.Requests[i]; !q.Counted {
			q.RejectReason = evil + ": " + evil
		}
	}
	for _, run := range []*resultstest.Recorded{r, w} {
		for name, f := range forms() {
			got := render1(t, f, analyse(run), render.Options{UTF8: true})
			for _, c := range got {
				if c != '\n' && unicode.IsControl(c) || c == '\u202e' {
					t.Errorf("%s holds the character %U", name, c)
					break
				}
			}
			body := regexp.MustCompile("(?s)\n(```+)[a-z]*\n.*?\n```").ReplaceAllString(got, "")
			if (name == "html" || name == "markdown") && strings.Contains(body, "<script") {
				t.Errorf("%s holds a script", name)
			}
		}
	}
}

// A run of one cell of a matrix says which.
func TestCellIsNamed(t *testing.T) {
	r := tiny()
	r.Manifest.Cell, r.Plan.Cells[0].Name = "max_num_seqs=8", "max_num_seqs=8"
	for _, name := range []string{"text", "markdown", "html"} {
		says(t, name, strings.ReplaceAll(oneLine(t, forms()[name], analyse(r)), `\_`, "_"), "cell max_num_seqs=8")
	}
}
