package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"rung/spec"
	"rung/spec/plan"
)

// planWidth is what no line of a plan is wider than, and planLabel where the text of
// a labelled one begins.
const (
	planWidth = 100
	planLabel = 18
)

// errWriter keeps the first error of many writes.
type errWriter struct {
	w     io.Writer
	err   error
	plain bool // the locale shows ASCII alone
}

func (e *errWriter) printf(format string, args ...any) {
	if e.err != nil {
		return
	}
	text := fmt.Sprintf(format, args...)
	if e.plain {
		text = strings.ReplaceAll(text, "…", "~") // as wide as what it stands for
	}
	_, e.err = io.WriteString(e.w, text)
}

// item prints a text behind a label, wrapped; nothing where there is none.
func (e *errWriter) item(label, text string) {
	if text == "" {
		return
	}
	for _, line := range folded(text, planWidth-planLabel) {
		e.printf("%-*s%s\n", planLabel, clip(label, planLabel-1), line)
		label = ""
	}
}

// hang prints a text behind an indent, its further lines indented more.
func (e *errWriter) hang(indent, text string) {
	further := indent + "  "
	for _, line := range folded(text, planWidth-len(further)) {
		e.printf("%s%s\n", indent, line)
		indent = further
	}
}

// folded is a text in lines of so many columns; a word that has more is cut.
func folded(text string, width int) []string {
	lines := spec.Wrap(text, width)
	for i, line := range lines {
		lines[i] = clip(line, width)
	}
	return lines
}

// clip cuts a text to so many characters, the last of which then says so.
func clip(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// showHead prints what all cells have in common.
func showHead(w *errWriter, p plan.Plan, simulated bool) {
	where := place(p)
	if simulated {
		where = "on the built-in simulated server"
		w.printf("SIMULATED: no real server is measured.\n")
	}
	w.printf("experiment %q, seed %d, spec hash %s\n", clip(p.Experiment, 40), p.Seed, p.SpecHash[:12])
	w.item("target", commas(string(p.Target.API), fmt.Sprintf("model %q", p.Target.Model), where))
	if !simulated {
		w.item("proxy", p.Target.Proxy)
	}
	if p.GPU.Source == "none" {
		w.printf("no GPU samples\n")
	} else {
		w.item("GPU samples", fmt.Sprintf("by %s every %s", p.GPU.Source, p.GPU.Interval)+when(len(p.GPU.Devices) > 0, ", of %s", strings.Join(p.GPU.Devices, ", ")))
	}
	if m := p.Metrics; m != nil {
		w.item("metrics", fmt.Sprintf("%s%s every %s", m.Path, m.URL, m.Interval))
	}
	if slices.ContainsFunc(p.Cells, func(c plan.Cell) bool {
		return slices.ContainsFunc(c.Ladders, func(l plan.Ladder) bool { return l.Axis.HasKnee() })
	}) {
		w.item("knee rule", kneeWords(p.Analysis.Knee)+", use "+p.Analysis.Use)
	}
	if p.SLO != nil {
		w.item("slo", sloWords(*p.SLO))
	}
	if p.Rollback != nil {
		w.item("rollback", rollbackWords(*p.Rollback))
	}
	w.item("config for", strings.Join(p.Configs, ", "))
}

// place is where the requests go.
func place(p plan.Plan) string {
	switch {
	case p.Target.API == plan.Exec:
		return "by " + strings.Join(p.Target.Command, " ")
	case p.Target.URL == "":
		return "at (sensitive)"
	default:
		return "at " + p.Target.URL
	}
}

// showCell prints what a cell is made of: its server, its prompts and its ladders.
func showCell(w *errWriter, p plan.Plan, c plan.Cell, simulated bool) {
	if s := c.Server; s != nil {
		showServerOf(w, *s, len(c.Ladders), simulated)
	}
	for _, one := range promptsOf(c) {
		w.item(fmt.Sprintf("prompt %q", clip(one.Name, 8)), promptWords(one, p.Target.API))
	}
	if b := c.Baseline; b != nil {
		w.item("baseline", fmt.Sprintf("%s of silence, %s, %s one at a time, prompt %s",
			b.Idle, plural(b.Warmup, "warm-up"), plural(b.Requests, "request"), b.Prompt.Name))
	}
	for _, l := range c.Ladders {
		w.hang("", ladderWords(l))
		if stop := stopWords(l.Stop); stop != "" {
			w.hang("  ", "stops "+stop)
		}
	}
	for _, r := range c.Retests {
		w.item("retest", fmt.Sprintf("of ladder %s: prompt %s, %s after %s", r.Ladder, r.Prompt.Name, plural(r.Requests, "request"), plural(r.Warmup, "warm-up")))
	}
	if v := c.Confirm; v != nil {
		w.item("confirm", fmt.Sprintf("prompt %s, %s after %s", v.Prompt.Name, plural(v.Requests, "request"), plural(v.Warmup, "warm-up")))
	}
}

// showServerOf prints what is started, and what that may take.
func showServerOf(w *errWriter, s plan.Server, ladders int, simulated bool) {
	if len(s.Command) == 0 {
		w.item("server's log", s.Log)
		return
	}
	starts := map[plan.Restart]string{
		plan.RestartLadder: fmt.Sprintf("before each ladder, %d times", ladders),
		plan.RestartCell:   "for each cell",
		plan.RestartNever:  "once",
	}[s.Restart]
	w.item("server", clip(strings.Join(s.Command, " "), 80))
	if simulated {
		w.item("", "not started: the simulated server stands for it; restart = \""+string(s.Restart)+"\"")
		return
	}
	w.item("", fmt.Sprintf("started %s; until it is ready at most %s each time, on top of the times below", starts, long(s.Ready.Timeout.D())))
}

// promptsOf are the prompts of a cell, each once.
func promptsOf(c plan.Cell) []plan.Prompt {
	var out []plan.Prompt
	add := func(p plan.Prompt) {
		if p.Name != "" && !slices.ContainsFunc(out, func(o plan.Prompt) bool { return o.Name == p.Name }) {
			out = append(out, p)
		}
	}
	for _, l := range c.Ladders {
		add(l.Prompt)
	}
	if c.Baseline != nil {
		add(c.Baseline.Prompt)
	}
	for _, r := range c.Retests {
		add(r.Prompt)
	}
	if c.Confirm != nil {
		add(c.Confirm.Prompt)
	}
	return out
}

// long is a time as a person plans with it.
func long(d time.Duration) string {
	switch {
	case d >= 100*time.Hour:
		return fmt.Sprintf("%s h", number(d.Hours()))
	case d >= time.Hour:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	case d >= 100*time.Second:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d >= time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	default:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
}
