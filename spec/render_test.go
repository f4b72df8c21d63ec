package spec

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRenderFitsTheTerminal(t *testing.T) {
	long := small("ladder \"batch\" {\n rungs = [1]\n" + strings.Repeat(" ", 300) + "stray = \"" + strings.Repeat("x", 300) + "\"\n}\n")
	for _, source := range []string{read(t, "testdata/ten-mistakes.hcl"), long} {
		_, diags := load(t, source, Options{})
		for _, width := range []int{40, 60, 80} {
			var b strings.Builder
			if err := diags.Render(&b, width, false); err != nil {
				t.Fatal(err)
			}
			for line := range strings.SplitSeq(b.String(), "\n") {
				if n := utf8.RuneCountInString(line); n > width && !strings.HasPrefix(line, "  on ") {
					t.Errorf("%d columns of %d: %s", n, width, line)
				}
			}
		}
	}
}

func TestRenderMarksTheSubject(t *testing.T) {
	source := small("ladder \"batch\" {\n rungs = [1]\n" + strings.Repeat(" ", 300) + "stray = 1\n}\n")
	_, diags := load(t, source, Options{})
	var b strings.Builder
	if err := diags.Render(&b, 60, false); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	for i, line := range lines {
		from := strings.Index(lines[max(0, i-1)], "stray")
		if strings.Contains(line, "^^^^^") && from >= 0 && strings.Index(line, "^") != from {
			t.Errorf("the marks are not under the subject:\n%s\n%s", lines[i-1], line)
		}
	}
	if !strings.Contains(b.String(), "^^^^^\n") {
		t.Errorf("no marks:\n%s", b.String())
	}
}

func TestRenderColor(t *testing.T) {
	_, diags := load(t, small("ladder \"batch\" {\n rungs = [1]\n stray = 1\n}\n"), Options{})
	var b strings.Builder
	if err := diags.Render(&b, 80, true); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{boldRed + "Error" + plain, boldYellow + "Warning" + plain, underline + "stray" + plain} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %q", want, b.String())
		}
	}
}

func TestDiagnosticsJSON(t *testing.T) {
	_, diags := load(t, small("ladder \"batch\" {\n rungs = [1]\n stray = 1\n}\n"), Options{})
	b, err := diags.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Errors, Warnings int
		Diagnostics      []Diagnostic
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if got.Errors != 1 || got.Warnings != 1 || len(got.Diagnostics) != 2 {
		t.Fatalf("%s", b)
	}
	if d := got.Diagnostics[1]; d.Start == nil || d.Start.Line != 12 || d.Start.Column != 2 || d.End.Column != 7 || d.Block != `ladder "batch"` {
		t.Errorf("%+v", d)
	}
	empty, err := Diagnostics(nil).JSON()
	if err != nil || !strings.Contains(string(empty), `"diagnostics": []`) {
		t.Errorf("none: %s, %v", empty, err)
	}
}

func TestWrap(t *testing.T) {
	for width, want := range map[int]string{0: "one two three", 7: "one two|three", 3: "one|two|three"} {
		if got := strings.Join(Wrap("one two three", width), "|"); got != want {
			t.Errorf("%d: %s", width, got)
		}
	}
}

func TestNearest(t *testing.T) {
	names := []string{"batch", "concurrency", "rounds", "requests", "warmup", "use"}
	for given, want := range map[string]string{"bacth": "batch", "batches": "batch", "request": "requests", "concurency": "concurrency",
		"user": "use", "BATCH": "batch", "x": "", "": "", "temperature": "", strings.Repeat("b", 100): ""} {
		if got := nearest(given, names); got != want {
			t.Errorf("%q: %q, not %q", given, got, want)
		}
	}
}

func TestParseSize(t *testing.T) {
	for given, want := range map[string]int64{"16GiB": 16 << 30, "512KiB": 512 << 10, "1.5MiB": 3 << 19, "1GB": 1e9, "7B": 7, "2 KiB": 2048, "0B": 0} {
		if got, ok := parseSize(given); !ok || got != want {
			t.Errorf("%s: %d, %v", given, got, ok)
		}
	}
	for _, given := range []string{"", "16", "GiB", "-1GiB", "1.5B", "1e9B", "1/2KiB", "0x1GiB", "9999999999TiB", "1gib", "1..5KiB"} {
		if n, ok := parseSize(given); ok {
			t.Errorf("%q is %d", given, n)
		}
	}
}
