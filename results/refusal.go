package results

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// number is a figure in a reason; what remains of the reason without its figures is
// what two rounds can have in common.
var number = regexp.MustCompile(`\d+(?:\.\d+)?`)

// mostForms is how many forms of a reason are told of one kind.
const mostForms = 3

// collapse makes one refusal of those of a kind: their reasons with the reach of each
// figure. "late by 1.2 ms" and "late by 1.4 ms" are "late by 1.2 to 1.4 ms".
func collapse(byReason map[string]int) []Refusal {
	type kind struct {
		attempts int
		forms    map[string][]string // reasons by what they have in common
	}
	kinds := map[string]*kind{}
	for reason, n := range byReason {
		name := number.ReplaceAllString(nameOf(reason), "#")
		k := kinds[name]
		if k == nil {
			k = &kind{forms: map[string][]string{}}
			kinds[name] = k
		}
		k.attempts += n
		form := number.ReplaceAllString(reason, "#")
		k.forms[form] = append(k.forms[form], reason)
	}
	var out []Refusal
	for _, k := range kinds {
		var forms []string
		for _, reasons := range k.forms {
			forms = append(forms, reach(reasons))
		}
		slices.Sort(forms)
		for i := 1; i < len(forms); i++ { // the kind is named once
			if _, rest, ok := strings.Cut(forms[i], ": "); ok {
				forms[i] = rest
			}
		}
		if len(forms) > mostForms {
			forms = append(forms[:mostForms], "…")
		}
		out = append(out, Refusal{strings.Join(forms, "; "), k.attempts})
	}
	slices.SortFunc(out, func(a, b Refusal) int {
		return cmp.Or(cmp.Compare(b.Attempts, a.Attempts), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

// reach puts reasons of one form together: each figure that differs stands from its
// least to its greatest.
func reach(reasons []string) string {
	slices.Sort(reasons) // of equal figures, the same one always stands
	low := number.FindAllString(reasons[0], -1)
	high := slices.Clone(low)
	for _, r := range reasons[1:] {
		for i, s := range number.FindAllString(r, -1) {
			if valueOf(s) < valueOf(low[i]) {
				low[i] = s
			}
			if valueOf(s) > valueOf(high[i]) {
				high[i] = s
			}
		}
	}
	i := -1
	return number.ReplaceAllStringFunc(reasons[0], func(string) string {
		i++
		if low[i] == high[i] {
			return low[i]
		}
		return low[i] + " to " + high[i]
	})
}

func valueOf(s string) float64 {
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0
	}
	return x
}

// Shown is a refusal's kind with what it says in brackets.
func (r Refusal) Shown() string {
	if name, rest, ok := strings.Cut(r.Reason, ": "); ok {
		return name + " (" + rest + ")"
	}
	return r.Reason
}
