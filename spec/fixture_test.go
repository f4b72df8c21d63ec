package spec

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A fixture says on the offending line what is said of it. Comments of its own:
//
//	# WITH: run | simulate | var NAME=VALUE | env NAME=VALUE
//	# ERROR (no line): Summary     about the file as a whole
//	# ERROR (no file): Summary     about a flag or the environment
//	# ERROR (syntax)               errors of syntax, in the library's own words
//	# WITH: vars NAME            a file of variables, beside the fixture
//	# ERROR (NAME:LINE): Summary in the file of variables
var (
	expected = regexp.MustCompile(`# (ERROR|WARNING)( \(no line\)| \(no file\)| \([a-z0-9.-]+:[0-9]+\))?: (.*)$`)
	with     = regexp.MustCompile(`^# WITH: (\w+) ?(?:(\S+?)=(.*)|(\S+))?$`)
)

// options reads the options that a fixture asks for.
func options(t *testing.T, source string) Options {
	t.Helper()
	return optionsIn(t, "valid", source)
}

func optionsIn(t *testing.T, dir, source string) Options {
	t.Helper()
	opts, env := Options{Vars: map[string]string{}}, map[string]string{}
	for line := range strings.SplitSeq(source, "\n") {
		m := with.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		switch m[1] {
		case "run":
			opts.ForRun = true
		case "simulate":
			opts.Simulate = true
		case "var":
			opts.Vars[m[2]] = m[3]
		case "env":
			env[m[2]] = m[3]
		case "vars":
			opts.VarFiles = append(opts.VarFiles, filepath.Join("testdata", dir, m[4]))
		default:
			t.Fatalf("unknown option in %q", line)
		}
	}
	opts.Env = func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	return opts
}

// wanted lists what a fixture expects, as "line severity summary".
func wanted(source string) []string {
	var out []string
	for i, line := range strings.Split(source, "\n") {
		m := expected.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		place := strconv.Itoa(i + 1)
		if m[2] != "" {
			place = strings.Trim(m[2], " ()")
		}
		out = append(out, fmt.Sprintf("%s %s %s", place, strings.ToLower(m[1]), m[3]))
	}
	slices.Sort(out)
	return out
}

func said(diags Diagnostics) []string {
	var out []string
	for _, d := range diags {
		place := "no file"
		switch {
		case strings.Contains(d.File, ".vars."):
			place = filepath.Base(d.File) + ":" + line(d)
		case d.Start != nil:
			place = strconv.Itoa(d.Start.Line)
		case d.File != "":
			place = "no line"
		}
		out = append(out, fmt.Sprintf("%s %s %s", place, d.Severity, d.Summary))
	}
	slices.Sort(out)
	return out
}

// line is where a diagnostic is, 0 where it is about the whole file.
func line(d Diagnostic) string {
	if d.Start == nil {
		return "0"
	}
	return strconv.Itoa(d.Start.Line)
}

func fixtures(t *testing.T, kind string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", kind, "*.hcl"))
	paths = slices.DeleteFunc(paths, func(p string) bool { return strings.HasSuffix(p, ".vars.hcl") })
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures of kind %s: %v", kind, err)
	}
	return paths
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestFixtureInvalid(t *testing.T) {
	for _, path := range fixtures(t, "invalid") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".hcl"), func(t *testing.T) {
			source := read(t, path)
			_, diags := Load(path, optionsIn(t, "invalid", source))
			if strings.Contains(source, "# ERROR (syntax)") {
				if !diags.HasErrors() {
					t.Error("no error")
				}
			} else if diff := cmp.Diff(wanted(source), said(diags)); diff != "" {
				t.Errorf("expected (-) and said (+):\n%s", diff)
			}
			checkDiagnostics(t, source, diags)
			if b, err := diags.JSON(); err != nil || strings.Contains(string(b), "hunter2") {
				t.Errorf("a sensitive value is shown: %s, %v", b, err)
			}
		})
	}
}

// checkDiagnostics holds for the diagnostics of every file.
func checkDiagnostics(t *testing.T, source string, diags Diagnostics) {
	t.Helper()
	var text strings.Builder
	if err := diags.Render(&text, 60, false); err != nil {
		t.Error(err)
	}
	if _, err := diags.JSON(); err != nil {
		t.Error(err)
	}
	lines := strings.Count(source, "\n") + 1
	for _, d := range diags {
		if d.Summary == "" || d.Detail == "" {
			t.Errorf("a diagnostic without words: %+v", d)
		}
		if d.Start == nil || strings.Contains(d.File, ".vars.") {
			continue
		}
		if d.Start.Line < 1 || d.Start.Line > lines || d.Start.Column < 1 {
			t.Errorf("%s: line %d is not in the file, which has %d", d.Summary, d.Start.Line, lines)
		}
		if len(d.Excerpt) == 0 || d.Excerpt[0].Number != d.Start.Line {
			t.Errorf("%s: no excerpt of line %d: %+v", d.Summary, d.Start.Line, d.Excerpt)
		}
	}
}

// TestFixtureForEverySummary finds the phrases that no fixture shows.
func TestFixtureForEverySummary(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "summary.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			for _, e := range v.Values {
				if lit, ok := e.(*ast.BasicLit); ok {
					s, _ := strconv.Unquote(lit.Value)
					all[s] = true
				}
			}
		}
		return true
	})
	for _, path := range fixtures(t, "invalid") {
		for _, w := range wanted(read(t, path)) {
			delete(all, expected.FindStringSubmatch("# ERROR: " + w[strings.LastIndex(w, " error ")+1:])[3])
			for s := range all {
				if strings.HasSuffix(w, " "+s) {
					delete(all, s)
				}
			}
		}
	}
	for _, h := range hostile() {
		delete(all, string(h.says))
	}
	if len(all) > 0 {
		t.Errorf("no fixture for %v", slices.Sorted(maps.Keys(all)))
	}
}

// TestFixtureForEveryAttribute finds the attributes of which no fixture has a wrong
// type.
func TestFixtureForEveryAttribute(t *testing.T) {
	var source strings.Builder
	for _, path := range fixtures(t, "invalid") {
		source.WriteString(read(t, path))
	}
	for _, s := range schemas() {
		for _, a := range s.attrs {
			wrong := regexp.MustCompile(`(?m)^ *` + a + ` *= .*# ERROR: (Wrong type|Not a reference|Unusable)`)
			if a == "default" || wrong.MatchString(source.String()) {
				continue
			}
			t.Errorf("no fixture with %s of %s of a wrong type", a, s.kind)
		}
	}
}
