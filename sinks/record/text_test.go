package record_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"rung/sinks/record"
)

func TestClip(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"plain", 9, "plain"},
		{"plain", 3, "pla"},
		{"aäö", 4, "aä"},                   // not within a letter
		{"\xff\xff", 9, "\uFFFD"},          // a run of what is no letter is one
		{"\xffa\xffa\xffa", 6, "\uFFFDa"},  // and takes more room than it had
		{strings.Repeat("\x80", 9), 2, ""}, // nor cut where there is none
		{"", 0, ""},
	} {
		if got := record.Clip(c.in, c.n); got != c.want {
			t.Errorf("%q to %d: %q, want %q", c.in, c.n, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		in, n := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text")), rapid.IntRange(0, 40).Draw(t, "n")
		got := record.Clip(in, n)
		if len(got) > n || !utf8.ValidString(got) || utf8.ValidString(in) && !strings.HasPrefix(in, got) {
			t.Fatalf("%q", got)
		}
	})
}
