package main

import (
	"fmt"
	"strings"
	"time"

	"rung/spec"
	"rung/spec/plan"
)

// planRow is one rung with all its passes together, or the baseline.
type planRow struct {
	spec.Visit
	passes int
}

// rows puts the visits of one rung together, in the order of the first of each.
func rows(p spec.Price) []planRow {
	type key struct {
		kind, ladder string
		rung         int
	}
	at := map[key]int{}
	var out []planRow
	for _, v := range p.Visits {
		k := key{v.Kind, v.Ladder, v.Rung}
		i, ok := at[k]
		if !ok {
			at[k] = len(out)
			out = append(out, planRow{v, 1})
			continue
		}
		out[i] = planRow{out[i].Plus(v), out[i].passes + 1}
	}
	return out
}

const planHead = "%-16s %10s %6s %7s %9s %6s %9s %13s %9s\n"

// showRungs prints a line for each ladder and rung.
func showRungs(w *errWriter, c plan.Cell, p spec.Price) {
	w.printf(planHead, "ladder", "rung", "passes", "rounds", "requests", "at", "requests", "input", "likely")
	w.printf(planHead, "", "", "", "a pass", "a round", "once", "in all", "tokens", "time")
	last := ""
	for _, r := range rows(p) {
		name := called(r.Visit)
		shown := name
		if name == last {
			shown = ""
		}
		last = name
		w.printf(planHead, clip(shown, 16), rungOf(r.Visit), passes(r), fmt.Sprint(r.Rounds), number(r.PerRound), fmt.Sprint(r.InFlight),
			number(r.Requests), number(r.InputTokens), long(r.Likely))
	}
	w.printf("\n")
	for _, l := range c.Ladders {
		w.printf("%s: %s\n", clip(l.Name, 40), order(l.Passes))
	}
}

// order says in words how a ladder is walked.
func order(all []plan.Pass) string {
	var words []string
	for _, p := range all[:min(len(all), 5)] {
		words = append(words, direction(p.Up))
	}
	if len(all) > len(words) {
		words = append(words, "and so on")
	}
	if len(all) == 1 {
		return "one pass, " + words[0]
	}
	return fmt.Sprintf("%d passes, %s", len(all), strings.Join(words, ", "))
}

func direction(up bool) string {
	if up {
		return "up"
	}
	return "down"
}

// showVisits prints a line for each stop of a run, in order.
func showVisits(w *errWriter, p spec.Price) {
	const line = "%-16s %-9s %10s %7s %9s %6s %9s %13s %8s\n"
	w.printf(line, "ladder", "pass", "rung", "rounds", "a round", "once", "requests", "input tokens", "pause")
	for _, v := range p.Visits {
		pass := ""
		if v.Kind == "ladder" {
			pass = fmt.Sprintf("%d %s", v.Pass+1, direction(v.Up))
		}
		w.printf(line, clip(called(v), 16), pass, rungOf(v), fmt.Sprint(v.Rounds), number(v.PerRound), fmt.Sprint(v.InFlight),
			number(v.Requests), number(v.InputTokens), v.Pause.String())
	}
}

func called(v spec.Visit) string {
	if v.Kind == "ladder" {
		return v.Ladder
	}
	return "(" + v.Kind + ")"
}

func rungOf(v spec.Visit) string {
	if v.Kind != "ladder" {
		return ""
	}
	return fmt.Sprintf("%g", v.Value)
}

func passes(r planRow) string {
	if r.Kind != "ladder" {
		return ""
	}
	return fmt.Sprint(r.passes)
}

// showSums prints what all cells come to.
func showSums(w *errWriter, all []spec.Price, cost spec.Cost) {
	var t spec.Price
	for _, p := range all {
		p.Visits = nil
		t = t.Plus(p)
	}
	if len(all) > 1 {
		w.printf("all %d cells:\n", len(all))
	}
	w.printf("%-17s %s, warm-ups among them\n", "requests", number(t.Requests))
	w.printf("%-17s %s\n", "input tokens", number(t.InputTokens))
	if t.OutputTokens > 0 {
		w.printf("%-17s %s at most\n", "output tokens", number(t.OutputTokens))
	}
	w.printf("%-17s %s\n", "distinct prompts", number(t.Distinct))
	w.printf("%-17s %s, if the server answered at once\n", "least time", long(t.Least))
	w.printf("%-17s %s\n%-17s %s\n", "likely time", long(t.Likely), "", cost.Assumption)
	w.printf("%-17s %s at most, for bodies and answers\n", "client's memory", bytesOf(t.Memory))
	w.printf("Rounds that are refused and sent again come on top, and the requests before a run.\n")
}

// number is a whole number in groups of three digits.
func number(x float64) string {
	s := fmt.Sprintf("%.0f", x)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
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

// bytesOf is a size as a person reads it.
func bytesOf(n float64) string {
	if n >= 1<<30 {
		return fmt.Sprintf("%.1f GiB", n/(1<<30))
	}
	return fmt.Sprintf("%.1f MiB", n/(1<<20))
}

func clip(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n])
	}
	return s
}
