package plan

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestEdge(t *testing.T) {
	stop := Stop{Outcomes: []string{"oom", "reset"}, FailureRatio: 0.01}
	for _, tt := range []struct {
		name  string
		tally Tally
		want  string
	}{
		{"nothing failed", Tally{Total: 40}, ""},
		{"one out of memory", Tally{Total: 1000, Failures: 1, ByName: map[string]int{"oom": 1}}, "outcome oom in 1 of 1000 requests"},
		{"the order of the spec", Tally{Total: 9, Failures: 2, ByName: map[string]int{"reset": 1, "oom": 1}}, "outcome oom in 1 of 9 requests"},
		{"one timeout of few", Tally{Total: 3, Failures: 1, ByName: map[string]int{"timeout": 1}}, ""},
		{"two timeouts of few", Tally{Total: 3, Failures: 2, ByName: map[string]int{"timeout": 2}}, "2 of 3 requests failed, more than the declared ratio of 0.01"},
		{"at the ratio", Tally{Total: 200, Failures: 2, ByName: map[string]int{"timeout": 2}}, ""},
		{"over the ratio", Tally{Total: 199, Failures: 2, ByName: map[string]int{"timeout": 2}}, "2 of 199 requests failed, more than the declared ratio of 0.01"},
		{"nothing sent", Tally{}, ""},
	} {
		if got := stop.Edge(tt.tally); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// However a secret is printed, it does not show.
func TestSecretHides(t *testing.T) {
	const value = "hunter2"
	s := Secrets{URL: new(NewSecret(value)), Headers: map[string]Secret{"A": NewSecret(value)}, Body: map[string]Secret{"b": NewSecret(value)}}
	var shown strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&shown, verb, NewSecret(value))
		fmt.Fprintf(&shown, verb, s.Headers)
		fmt.Fprintf(&shown, verb, s)
	}
	for _, v := range []any{s, s.URL, s.Headers, &s} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		shown.Write(b)
	}
	fmt.Fprintf(&shown, "%x", []byte(NewSecret(value).String()))
	if strings.Contains(shown.String(), value) || strings.Contains(shown.String(), fmt.Sprintf("%x", value)) {
		t.Errorf("the secret shows: %s", shown.String())
	}
	if NewSecret(value).Reveal() != value {
		t.Error("the secret is lost")
	}
}

// Draws are a function of the seed and the key, and no two keys share one.
func TestDraw(t *testing.T) {
	p, other := Plan{Seed: 1}, Plan{Seed: 2}
	seen := map[[32]byte]string{}
	for phase := range 2 {
		for pass := range 3 {
			for rung := range 3 {
				for round := range 3 {
					for attempt := range 2 {
						for index := range 3 {
							for input := range 3 {
								k := Key{Phase: []string{"warmup", "measure"}[phase], Ladder: "l", Pass: pass, Rung: rung, Round: round, Attempt: attempt, Index: index}
								d := p.Draw(k, input)
								name := fmt.Sprint(k, input)
								if before, twice := seen[d]; twice {
									t.Fatalf("%s and %s draw the same", before, name)
								}
								seen[d] = name
								if d != p.Draw(k, input) || d == other.Draw(k, input) {
									t.Fatalf("%s: not a function of seed and key", name)
								}
							}
						}
					}
				}
			}
		}
	}
}

func TestPlanJSON(t *testing.T) {
	p := Plan{Format: Format, Experiment: "e", GPU: GPU{Source: "nvml", Interval: Duration(200 * time.Millisecond)}}
	b, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), `"interval":"200ms"`) {
		t.Errorf("no unit: %s", b)
	}
	var back Plan
	if err := json.Unmarshal(b, &back); err != nil || back.Digest() != p.Digest() {
		t.Errorf("the digest does not survive its JSON: %v", err)
	}
	if err := json.Unmarshal([]byte(`{"gpu":{"interval":200}}`), &back); err == nil {
		t.Error("a time without a unit was taken")
	}
}
