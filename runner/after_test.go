package runner

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"rung/runner/memnet"
	"rung/sinks/record"
	"rung/spec/plan"
)

// checked is two ladders, a retest of the first at longer text, and a confirmation of
// both at once.
func checked(n *memnet.Listener, limits ...Limit) Config {
	cfg := config(n, batchLadder("batch", 1, 1, 2, 1, 2, 4), loadLadder(20, 1, 2, 4))
	cfg.Cell.Retests = []plan.Retest{{Ladder: "batch", Prompt: plan.Prompt{Name: "long"}, Tokens: 64, Warmup: 2, Requests: 5}}
	cfg.Cell.Confirm = &plan.Check{Prompt: plan.Prompt{Name: "p"}, Tokens: 32, Warmup: 1, Requests: 3}
	cfg.Limits = func() ([]Limit, error) { return limits, nil }
	return cfg
}

// What the ladders say is to be configured is held against longer text, and against
// itself: the batch and the concurrency at once.
func TestLimitsAreChecked(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		out := walkAll(t, checked(f.net, Limit{Ladder: "batch", Value: 2}, Limit{Ladder: "load", Value: 4}))
		retest := out.rows(phase(record.Retest))
		for _, r := range retest {
			if r.Ladder != "batch" || r.Value != 2 || r.Rung != 1 || r.Inputs != 2 || r.InFlight != 1 || *r.InputTokens != 128 || !r.Counted {
				t.Errorf("%+v", r)
			}
		}
		confirm := out.rows(phase(record.Confirm))
		for _, r := range confirm {
			if r.Ladder != "" || r.Inputs != 2 || r.InFlight != 4 || *r.InputTokens != 64 || !r.Counted {
				t.Errorf("%+v", r)
			}
		}
		if len(retest) != 5 || len(confirm) != 8 { // of the least that fills its steady window
			t.Errorf("%d rows of the retest, %d of the confirmation", len(retest), len(confirm))
		}
		warm := map[int]int{} // by the tokens of a request
		for _, r := range out.rows(phase(record.Warmup), func(r record.Request) bool { return r.SentTS > retest[0].SentTS-1 && r.InputTokensPlanned >= 64 }) {
			warm[r.InputTokensPlanned]++
		}
		if d := cmp.Diff(map[int]int{128: 2, 64: 4}, warm); d != "" {
			t.Error(d)
		}
		if w := out.reasons(record.Warning); len(w) > 0 {
			t.Errorf("%q", w)
		}
		checkBalanced(t, out)
	})
}

// Where there is no limit there is nothing to check, and that is said.
func TestNoLimitToCheck(t *testing.T) {
	for _, tt := range []struct {
		name    string
		limits  []Limit
		want    []string
		confirm int // rows of the confirmation
	}{
		{"none", nil, []string{"no retest: no limit was found", "no confirmation: no ladder of batch or concurrency has a limit"}, 0},
		{"a reason", []Limit{{Ladder: "batch", Reason: "the knee is not reached"}}, []string{"no retest: the knee is not reached", "no confirmation: no ladder of batch or concurrency has a limit"}, 0},
		{"no rung's", []Limit{{Ladder: "batch", Value: 3}}, []string{"no retest: no limit was found", "no confirmation: no ladder of batch or concurrency has a limit"}, 0},
		{"the other ladder's alone", []Limit{{Ladder: "load", Value: 2}}, []string{"no retest: no limit was found"}, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				out := walkAll(t, checked(newFake(t).net, tt.limits...))
				if d := cmp.Diff(tt.want, out.reasons(record.Warning)); d != "" {
					t.Error(d)
				}
				rows := out.rows(phase(record.Confirm))
				for _, r := range rows {
					if r.Inputs != 1 || r.InFlight != 2 {
						t.Errorf("%+v", r)
					}
				}
				if len(rows) != tt.confirm || len(out.rows(phase(record.Retest))) > 0 {
					t.Errorf("%d rows", len(rows))
				}
			})
		})
	}
	bubble(t, func(t *testing.T) { // nobody is there to tell
		cfg := checked(newFake(t).net)
		cfg.Limits = nil
		if w := walkAll(t, cfg).reasons(record.Warning); len(w) != 2 {
			t.Errorf("%q", w)
		}
	})
	bubble(t, func(t *testing.T) {
		cfg := checked(newFake(t).net)
		cfg.Limits = func() ([]Limit, error) { return nil, errors.New("the disk is gone") }
		if _, err := prepare(t, cfg).Run(t.Context(), t.Context(), (&tape{}).put); err == nil || !strings.Contains(err.Error(), "the limits to be checked: the disk is gone") {
			t.Error(err)
		}
	})
}

// A ladder of output lengths asks for so many tokens at each rung, and has what came.
func TestOutputLadder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		var least []int
		f.answer = func(q asked) said {
			least = append(least, intField(q.fields["min_tokens"]))
			return said{}
		}
		cfg := chatConfig(f.net, 8)
		l := batchLadder("output", 1, 2, 2, 8, 32, 128)
		l.Axis, l.Prompt.Exact = plan.AxisOutputTokens, true
		for i, n := range []int{8, 32, 128} {
			l.Rungs[i].Shape = plan.Shape{Batch: 1, InputTokens: 20, OutputTokens: n, InFlight: 1}
		}
		cfg.Cell.Ladders = []plan.Ladder{l}
		rows := walkAll(t, cfg).rows(phase(record.Measure))
		for _, r := range rows {
			if r.Outcome != record.OK || *r.OutputTokensPlanned != int(r.Value) || *r.OutputTokens != int(r.Value) || *r.InputTokens != 20 || !r.Counted {
				t.Errorf("%+v", r)
			}
		}
		if d := cmp.Diff([]int{32, 32, 32, 32, 32, 128, 128, 128, 128, 128}, least[len(least)-10:]); len(rows) != 12 || d != "" {
			t.Errorf("%d rows: %s", len(rows), d)
		}
	})
}
