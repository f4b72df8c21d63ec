package main

import (
	"fmt"
	"strings"

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

const planHead = "%-14s %7s %6s %6s %11s %13s %13s %13s %8s\n"

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
		about, most := guessed(c, r.Visit)
		w.printf(planHead, clip(shown, 14), rungOf(r.Visit), passes(r), fmt.Sprint(r.Rounds), about+number(r.PerRound), most+fmt.Sprint(r.InFlight),
			about+number(r.Requests), number(r.InputTokens), long(r.Likely))
	}
}

// guessed says of a visit's requests and of what is in flight that they are no more
// than that: in a round of a duration, and in an open loop.
func guessed(c plan.Cell, v spec.Visit) (about, most string) {
	for _, l := range c.Ladders {
		if v.Kind != "ladder" || l.Name != v.Ladder {
			continue
		}
		if r := l.Rungs[v.Rung]; r.Duration > 0 && l.Arrivals != "constant" {
			about = "about "
		}
		if l.Axis == plan.AxisRate {
			most = "at most "
		}
	}
	return about, most
}

// timed says that some rounds have a duration in place of a number of requests.
func timed(p plan.Plan) bool {
	for _, c := range p.Cells {
		for _, l := range c.Ladders {
			if len(l.Rungs) > 0 && l.Rungs[0].Duration > 0 {
				return true
			}
		}
	}
	return false
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
		return "1 pass (" + words[0] + ")"
	}
	return fmt.Sprintf("%d passes (%s)", len(all), strings.Join(words, ", "))
}

func direction(up bool) string {
	if up {
		return "up"
	}
	return "down"
}

// showVisits prints a line for each stop of a run, in order.
func showVisits(w *errWriter, c plan.Cell, p spec.Price) {
	const line = "%-12s %-8s %7s %6s %11s %13s %13s %13s %9s\n"
	w.printf(line, "ladder", "pass", "rung", "rounds", "a round", "once", "requests", "input tokens", "pause")
	for _, v := range p.Visits {
		pass := ""
		if v.Kind == "ladder" {
			pass = fmt.Sprintf("%d %s", v.Pass+1, direction(v.Up))
		}
		about, most := guessed(c, v)
		w.printf(line, clip(called(v), 12), pass, rungOf(v), fmt.Sprint(v.Rounds), about+number(v.PerRound), most+fmt.Sprint(v.InFlight),
			about+number(v.Requests), number(v.InputTokens), v.Pause.String())
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
	return plainly(v.Value)
}

func passes(r planRow) string {
	if r.Kind != "ladder" {
		return ""
	}
	return fmt.Sprint(r.passes)
}

// showSums prints what all cells come to.
func showSums(w *errWriter, all []spec.Price, cost spec.Cost, timed bool) {
	var t spec.Price
	for _, p := range all {
		p.Visits = nil
		t = t.Plus(p)
	}
	if len(all) > 1 {
		w.printf("all %d cells:\n", len(all))
	}
	about := when(timed, "about ")
	w.printf("%-17s %s%s, warm-ups among them\n", "requests", about, number(t.Requests))
	w.printf("%-17s %s%s\n", "input tokens", about, number(t.InputTokens))
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

// bytesOf is a size as a person reads it.
func bytesOf(n float64) string {
	if n >= 1<<30 {
		return fmt.Sprintf("%.1f GiB", n/(1<<30))
	}
	return fmt.Sprintf("%.1f MiB", n/(1<<20))
}
