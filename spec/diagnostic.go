package spec

import (
	"encoding/json"
	"fmt"
)

// Severity says whether a diagnostic stops the load.
type Severity string

// The severities.
const (
	Error   Severity = "error"   // the file gives no plan
	Warning Severity = "warning" // the plan stands, but look at this
)

// Position is a place in the file, both parts counted from 1. The column counts
// characters as a reader does (grapheme clusters), not bytes.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Diagnostic is one thing to say about a file. None of its texts holds the value
// of a sensitive variable.
type Diagnostic struct {
	Severity Severity  `json:"severity"`
	Summary  string    `json:"summary"`           // a fixed phrase
	Detail   string    `json:"detail,omitempty"`  // what was found and what is allowed
	File     string    `json:"file,omitempty"`    // empty for what stands in no file, such as --var
	Block    string    `json:"block,omitempty"`   // the outermost block around it: `ladder "batch"`
	Start    *Position `json:"start,omitempty"`   // nil where it is about the file as a whole
	End      *Position `json:"end,omitempty"`     // just after the last character
	Excerpt  []Line    `json:"excerpt,omitempty"` // the lines of the subject
}

// Line is a line of the file as shown, with the part that the diagnostic is about
// between two offsets in characters (runes) of Text. Sensitive parts are masked,
// control characters replaced, and very long lines cut.
type Line struct {
	Number int    `json:"number"`
	Text   string `json:"text"`
	From   int    `json:"from"`
	To     int    `json:"to"`
}

// Diagnostics is all there is to say about a file: warnings, then errors, each in the
// order of the file.
type Diagnostics []Diagnostic

// Errors counts the errors.
func (d Diagnostics) Errors() int { return d.count(Error) }

// Warnings counts the warnings.
func (d Diagnostics) Warnings() int { return d.count(Warning) }

// HasErrors says that the file gives no plan.
func (d Diagnostics) HasErrors() bool { return d.Errors() > 0 }

func (d Diagnostics) count(s Severity) int {
	n := 0
	for _, one := range d {
		if one.Severity == s {
			n++
		}
	}
	return n
}

// JSON is the form for programs: an object with the counts and the list.
func (d Diagnostics) JSON() ([]byte, error) {
	list := d
	if list == nil {
		list = Diagnostics{}
	}
	b, err := json.MarshalIndent(struct {
		Errors      int         `json:"errors"`
		Warnings    int         `json:"warnings"`
		Diagnostics Diagnostics `json:"diagnostics"`
	}{d.Errors(), d.Warnings(), list}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("diagnostics: %w", err)
	}
	return b, nil
}
