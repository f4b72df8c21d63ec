package spec

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Formatting an example changes no hash, nor do comments, line ends, a byte order
// mark, or the order of attributes.
func TestFormatKeepsTheHash(t *testing.T) {
	paths, err := filepath.Glob("../examples/*.hcl")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range append(paths, "testdata/valid/whole.hcl", "testdata/valid/matrix.hcl") {
		source := read(t, path)
		formatted, diags := Format(path, []byte(source))
		if diags.HasErrors() {
			t.Fatal(said(diags))
		}
		if again, _ := Format(path, formatted); string(again) != string(formatted) {
			t.Errorf("%s: formatting twice is not formatting once", path)
		}
		want := loadAs(t, path, source)
		for name, other := range map[string]string{
			"formatted":    string(formatted),
			"crooked":      regexp.MustCompile(`(?m)^ +`).ReplaceAllString(source, "\t "),
			"CRLF and BOM": "\ufeff" + strings.ReplaceAll(source, "\n", "\r\n"),
			"commented":    strings.ReplaceAll(source, "\n}\n", "\n  # the end\n}\n/* a\nblock */\n"),
			"turned":       turned(source),
		} {
			if got := loadAs(t, path, other); got != want {
				t.Errorf("%s, %s: another hash", path, name)
			}
		}
	}
}

func loadAs(t *testing.T, path, source string) string {
	t.Helper()
	res, diags := Load(path, Options{ReadFile: func(p string) ([]byte, error) {
		if p == path {
			return []byte(source), nil
		}
		return os.ReadFile(p)
	}})
	if diags.HasErrors() {
		t.Fatalf("%s: %v\n%s", path, said(diags), source)
	}
	return res.Plan.SpecHash + res.Plan.WorkloadHash
}

// turned reverses runs of one-line attributes.
func turned(source string) string {
	attr := regexp.MustCompile(`^ +[a-z_0-9]+ += [^\[{<]*$`)
	lines := strings.Split(source, "\n")
	for i := 0; i < len(lines); i++ {
		n := i
		for n < len(lines) && attr.MatchString(lines[n]) {
			n++
		}
		for a, b := i, n-1; a < b; a, b = a+1, b-1 {
			lines[a], lines[b] = lines[b], lines[a]
		}
		i = max(i, n)
	}
	return strings.Join(lines, "\n")
}

func TestFormatRefuses(t *testing.T) {
	for name, source := range map[string]string{"syntax": "a = = 1\n", "control": "a = \"\x01\"\n", "deep": "a = " + strings.Repeat("[", 100_000), "large": strings.Repeat("#\n", maxFile)} {
		if out, diags := Format("f.hcl", []byte(source)); out != nil || !diags.HasErrors() {
			t.Errorf("%s: %d bytes, %v", name, len(out), said(diags))
		}
	}
	out, diags := Format("f.hcl", []byte("\ufeffa=1\r\nbc   =  2\r\n"))
	if string(out) != "a  = 1\nbc = 2\n" || diags != nil {
		t.Errorf("%q, %v", out, diags)
	}
}
