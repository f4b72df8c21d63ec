package spec

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// finding is a diagnostic in the making: it keeps its range until the end, when
// all are put in the order of the file and given their excerpts.
type finding struct {
	severity Severity
	summary  string
	detail   string
	rng      *hcl.Range // nil where it is about no place in the file
	inFile   bool
	vars     *varFile // the file of variables that it is about; nil: the experiment's
}

// maxFindings bounds what one load says: a hostile file could make a million.
const maxFindings = 200

func (l *loader) add(f finding) {
	if l.broken && f.severity == Error && missingKind(f.summary) {
		return
	}
	if f.rng != nil && f.vars == nil && l.slips[f.rng.Start.Line] {
		return
	}
	if f.severity == Warning && len(l.findings) >= maxFindings {
		return
	}
	l.findings = append(l.findings, f)
}

// missingKind is true for what an error of syntax elsewhere may have caused.
func missingKind(s string) bool {
	switch summary(s) {
	case sumMissingBlock, sumMissingAttr, sumMissingURL, sumMissingTokens, sumUnknownVar, sumUnknownLocal,
		sumUnknownPrompt, sumUnknownLadder, sumUndeclaredVar, sumWhichPrompt, sumTokensTwice, sumOnlyWith, sumNotOnAxis:
		return true
	default:
		return false
	}
}

func (l *loader) errorAt(rng hcl.Range, s summary, format string, args ...any) {
	l.add(finding{severity: Error, summary: string(s), detail: fmt.Sprintf(format, args...), rng: &rng, inFile: true})
}

func (l *loader) warnAt(rng hcl.Range, s summary, format string, args ...any) {
	l.add(finding{severity: Warning, summary: string(s), detail: fmt.Sprintf(format, args...), rng: &rng, inFile: true})
}

// fileError is about the file as a whole.
func (l *loader) fileError(s summary, format string, args ...any) {
	l.add(finding{severity: Error, summary: string(s), detail: fmt.Sprintf(format, args...), inFile: true})
}

// outsideError is about what stands in no file: a flag or the environment.
func (l *loader) outsideError(s summary, format string, args ...any) {
	l.add(finding{severity: Error, summary: string(s), detail: fmt.Sprintf(format, args...)})
}

// notShown takes the place of a detail that could quote a sensitive value.
const notShown = "The expression uses a sensitive value, so what was found is not shown."

// fromHCL takes over the library's diagnostics. Their expressions and contexts are
// dropped, for the library would print the values of the variables in them, and
// where the expression holds a sensitive value the detail goes too, for functions
// quote their arguments.
func (l *loader) fromHCL(diags hcl.Diagnostics, sensitive bool) {
	for _, d := range diags {
		f := finding{severity: Error, summary: strings.TrimSuffix(d.Summary, "."), detail: d.Detail, rng: placeOf(d), inFile: true}
		if d.Severity == hcl.DiagWarning {
			f.severity = Warning
		}
		if sensitive {
			f.detail = notShown
		}
		if strings.Contains(f.detail, "panic") { // cty quotes the stack of a function that panicked
			f.detail = "The function can't work on these arguments."
		}
		l.add(f)
	}
}

// placeOf is where a diagnostic of the library is. In a file with errors of syntax it
// may have no place: nil then.
func placeOf(d *hcl.Diagnostic) *hcl.Range {
	for _, rng := range []*hcl.Range{d.Subject, d.Context} {
		if rng != nil && rng.Start.Line > 0 {
			return rng
		}
	}
	return nil
}

func (l *loader) failed() bool {
	return slices.ContainsFunc(l.findings, func(f finding) bool { return f.severity == Error })
}

// finish puts the findings in order and gives them their excerpts: warnings before
// errors, so that those are what a terminal shows last, each in the order of the file.
func (l *loader) finish() Diagnostics {
	slices.SortStableFunc(l.findings, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.fileOrder(), b.fileOrder()), cmp.Compare(start(a), start(b)), cmp.Compare(a.summary, b.summary), cmp.Compare(a.detail, b.detail))
	})
	l.findings = slices.CompactFunc(l.findings, func(a, b finding) bool {
		return a.summary == b.summary && a.detail == b.detail && start(a) == start(b) && a.vars == b.vars
	})
	if n := len(l.findings) - maxFindings; n > 0 {
		l.findings = append(l.findings[:maxFindings], finding{severity: Error, summary: string(sumTooManyErrors), inFile: true,
			detail: fmt.Sprintf("%d more are not shown.", n)})
	}
	slices.SortStableFunc(l.findings, func(a, b finding) int { return cmp.Compare(b.severity, a.severity) })
	out := make(Diagnostics, 0, len(l.findings))
	ex := map[*varFile]*excerpts{nil: newExcerpts(l.src, slices.Concat(l.hidden, l.veiled), l.secrets)}
	for _, v := range l.varFiles {
		ex[v] = newExcerpts(v.src, v.hidden, l.secrets)
	}
	for _, f := range l.findings {
		out = append(out, l.diagnostic(f, ex[f.vars]))
	}
	return out
}

// fileOrder puts the experiment's file first, then those of variables in their
// order, and last what is about no place.
func (f finding) fileOrder() int {
	switch {
	case f.vars != nil:
		return 1 + f.vars.order
	case f.rng != nil:
		return 0
	default:
		return math.MaxInt
	}
}

// start orders findings: by their place in the file, those without one last.
func start(f finding) int {
	if f.rng == nil {
		return maxFile + 1
	}
	return f.rng.Start.Byte
}

func (l *loader) diagnostic(f finding, ex *excerpts) Diagnostic {
	d := Diagnostic{Severity: f.severity, Summary: ex.scrub(f.summary), Detail: ex.scrub(printable(f.detail))}
	switch {
	case f.vars != nil:
		d.File = f.vars.path
	case f.inFile:
		d.File = l.path
	}
	if f.rng != nil {
		d.Start = &Position{f.rng.Start.Line, f.rng.Start.Column}
		d.End = &Position{f.rng.End.Line, f.rng.End.Column}
		d.Excerpt = ex.lines(*f.rng)
		if f.vars == nil {
			d.Block = ex.scrub(printable(l.blockAt(f.rng.Start.Byte)))
		}
	}
	return d
}

// blockAt names the outermost block around an offset.
func (l *loader) blockAt(offset int) string {
	if l.body == nil {
		return ""
	}
	for _, b := range l.body.Blocks {
		if r := b.Range(); r.Start.Byte <= offset && offset < r.End.Byte {
			return blockName(b)
		}
	}
	return ""
}
