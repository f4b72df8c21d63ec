package plan

import (
	"encoding/base64"
	"strings"
	"testing"
)

func TestScrub(t *testing.T) {
	address := NewSecret("https://joe:pass-word-9@host/k/SEKRET-url/v1")
	s := Secrets{
		URL:     &address,
		Headers: map[string]Secret{"Authorization": NewSecret("Bearer SEKRET-abc123"), "X": NewSecret("a+b c/d?")},
		Body:    map[string]Secret{"user": NewSecret(`"quo\"ted-secret"`)},
		Env:     map[string]Secret{"HF_TOKEN": NewSecret("hf_environment")},
	}.Scrubber()
	for _, said := range []string{
		"bad key Bearer SEKRET-abc123 here", "token=SEKRET-abc123", base64.StdEncoding.EncodeToString([]byte("Bearer SEKRET-abc123")),
		"/k/SEKRET-url/v1/embeddings", "joe:pass-word-9@host", `{"user":"quo\"ted-secret"}`, `quo"ted-secret`, "a%2Bb+c%2Fd%3F", "HF hf_environment",
	} {
		got := string(s.Clean([]byte(said)))
		for _, part := range []string{"SEKRET", "pass-word", "ted-secret", "%2Bb", "environment", base64.StdEncoding.EncodeToString([]byte("Bearer SEKRET-abc123"))[:12]} {
			if strings.Contains(got, part) {
				t.Errorf("%q became %q", said, got)
			}
		}
		if !strings.Contains(got, hidden) {
			t.Errorf("%q became %q", said, got)
		}
	}
	const harmless = "Bearer of news: v1 of the model is overloaded"
	if got := string(s.Clean([]byte(harmless))); got != harmless {
		t.Errorf("%q became %q", harmless, got)
	}
	if got := string(Secrets{Headers: map[string]Secret{"A": NewSecret("x")}}.Scrubber().Clean([]byte("xyz"))); got != "xyz" {
		t.Errorf("a secret of one letter: %q", got)
	}
}
