package spec

import (
	"os"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"rung/spec/plan"
)

// Options are what a load needs beside the file.
type Options struct {
	Vars     map[string]string                 // from --var name=value; they win over VarFiles, those over RUNG_VAR_name, and that over the default
	VarFiles []string                          // from --var-file, of which a later one wins over an earlier
	Env      func(name string) (string, bool)  // for RUNG_VAR_name and env(); nil: nothing is set
	ReadFile func(path string) ([]byte, error) // nil: the file system, bounded
	Simulate bool                              // --simulate: the GPU is the simulated one
	ForRun   bool                              // an unset sensitive variable is an error, no longer an unknown
}

// Result is a file that was loaded.
type Result struct {
	Plan      plan.Plan
	Secrets   plan.Secrets
	Texts     map[string][]byte // by plan.Prompt.TextHash: the bytes of text files
	Variables map[string]string // as the manifest shows them: "(sensitive)" for sensitive ones
	Source    []byte            // the file as read; a sensitive value that stands in it is masked
}

// Load reads, evaluates, checks and expands the file. Where the diagnostics have
// errors there is nothing beside Source: not even the variables, for in a file with
// errors of syntax what is sensitive may not be known.
func Load(path string, opts Options) (Result, Diagnostics) {
	l := newLoader(path, opts)
	source, ok := l.read()
	res := Result{Source: source}
	if !ok {
		return res, l.finish()
	}
	l.source(source)
	if !l.guard() || !l.parse() {
		return res, l.finish()
	}
	l.variables()
	if l.inFile {
		res.Source = l.maskedSource()
	}
	l.locals()
	e := l.experiment()
	if l.failed() {
		return res, l.finish()
	}
	res.Plan, res.Secrets, res.Texts, res.Variables = e.expand(), e.target.secrets, l.texts.byHash, l.shown
	return res, l.finish()
}

// loader holds what the stages of one load share.
type loader struct {
	path string // as given, and as it stands in diagnostics
	opts Options

	src    []byte // without BOM, lines ended by LF alone
	parsed []byte // as parsed: with blanks for what was reported already, all else in its place
	body   *hclsyntax.Body
	broken bool // there are errors of syntax: what seems missing may only be unreadable

	findings []finding
	slips    map[int]bool // lines of which all is said
	hidden   []span       // byte ranges of src that no excerpt shows
	veiled   []span       // so too, but what the plan shows anyway
	inFile   bool         // a sensitive value stands in the file itself
	secrets  []string     // values that no text of a diagnostic shows

	vars   names
	locs   names
	mat    names // of the cell in hand
	inCell bool  // what is decoded may read the matrix

	varFiles   []*varFile
	secretVars map[string]bool // of the variables: whose values no excerpt shows
	shown      map[string]string
	ctx        *hcl.EvalContext
	texts      texts
	spent      float64 // of the cost of all expressions so far
	marked     bool    // the values of the expression in hand are sensitive by declaration
}

func newLoader(path string, opts Options) *loader {
	if opts.Env == nil {
		opts.Env = func(string) (string, bool) { return "", false }
	}
	l := &loader{path: path, opts: opts, vars: newNames(), locs: newNames(), mat: newNames(), shown: map[string]string{}, secretVars: map[string]bool{}, slips: map[int]bool{}}
	l.texts = newTexts()
	l.ctx = &hcl.EvalContext{Functions: l.functions()}
	return l
}

// read fetches the file itself, bounded where rung does the reading.
func (l *loader) read() ([]byte, bool) {
	b, err := l.readFile(l.path)
	if err != nil {
		l.fileError(sumUnreadable, "%v", err)
		return nil, false
	}
	if len(b) > maxFile { // it may have been cut there
		l.fileError(sumTooLarge, "The file has more than %d bytes; an experiment file may have no more.", maxFile)
		return nil, false
	}
	return b, true
}

// readFile reads a file that was named on the command line.
func (l *loader) readFile(path string) ([]byte, error) {
	if l.opts.ReadFile != nil {
		return l.opts.ReadFile(path)
	}
	return readBounded(os.Open, path, maxFile)
}
