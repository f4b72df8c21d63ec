package results

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"rung/sinks/record"
)

// Output is the length of the counted answers of a rung, in tokens.
type Output struct {
	N       int     `json:"n"`
	Planned int     `json:"planned"`
	Min     int     `json:"min"`
	Max     int     `json:"max"`
	Mean    float64 `json:"mean"`
	Short   int     `json:"short"` // answers of fewer tokens than planned
}

// output sums up the lengths of successes; nil where no answer tells its own.
func (v visits) output() *Output {
	var o Output
	sum := 0.0
	for k, n := range v.succeeded() {
		if k.OutputTokens == nil || k.OutputTokensPlanned == nil {
			continue
		}
		tokens := *k.OutputTokens
		if o.N == 0 {
			o.Min, o.Max = tokens, tokens
		}
		o.Min, o.Max, o.Planned = min(o.Min, tokens), max(o.Max, tokens), max(o.Planned, *k.OutputTokensPlanned)
		if tokens < *k.OutputTokensPlanned {
			o.Short += n
		}
		sum += float64(n) * float64(tokens)
		o.N += n
	}
	if o.N == 0 {
		return nil
	}
	o.Mean = sum / float64(o.N)
	return &o
}

// Cache is what the server took from its prompt cache in a ladder's counted rows.
type Cache struct {
	PromptTokens int64   `json:"prompt_tokens"`
	CachedTokens int64   `json:"cached_tokens"`
	Share        float64 `json:"share"`
	Most         float64 `json:"most"`    // the greatest share of a rung
	MostAt       float64 `json:"most_at"` // that rung
	// Expected says that no request had more from the cache than the chat
	// template that all share, rounded up to a block.
	Expected bool `json:"expected"`
}

// block is the least number of tokens that prefix caches hold.
const block = 16

// cache adds up the cached prompt tokens of a ladder; nil where there were none.
// template is the number of tokens that the server's chat template adds.
func (w *walked) cache(template int) *Cache {
	c := Cache{Expected: true}
	shared := (max(template, 0) + block - 1) / block * block
	for i := range w.out.Rungs {
		r := &w.out.Rungs[i]
		var prompt, cached int64
		for k, n := range w.rows[r.Index].counted().succeeded() {
			tokens := k.InputTokensPlanned
			if k.InputTokens != nil {
				tokens = *k.InputTokens
			}
			prompt += int64(n) * int64(max(tokens, 0))
			if k.CachedTokens != nil && *k.CachedTokens > 0 {
				cached += int64(n) * int64(*k.CachedTokens)
				c.Expected = c.Expected && *k.CachedTokens <= shared*max(k.Inputs, 1)
			}
		}
		c.PromptTokens, c.CachedTokens = c.PromptTokens+prompt, c.CachedTokens+cached
		if s := part(cached, prompt); s > c.Most {
			c.Most, c.MostAt = s, r.Value
		}
	}
	if c.CachedTokens <= 0 {
		return nil
	}
	c.Share = part(c.CachedTokens, c.PromptTokens)
	return &c
}

// part is a share from 0 to 1.
func part(of, all int64) float64 {
	if all <= 0 || of <= 0 {
		return 0
	}
	return min(1, float64(of)/float64(all))
}

// Said is the first of a ladder's failures under one name, in the server's words.
type Said struct {
	Name   string       `json:"name"`
	N      int          `json:"n"`     // of that name: warm-ups, measured and confirming requests
	Value  float64      `json:"value"` // the first one's rung
	Phase  record.Phase `json:"phase"`
	Status *int         `json:"status,omitempty"`
	Text   string       `json:"text,omitempty"` // the first words of the answer, or of the client's error
}

// said collects one failure a name, the first in time, in the order of
// record.Outcomes.
func said(rows visits) []Said {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b attempt) int { return cmp.Compare(a.rows.At(0).SentTS, b.rows.At(0).SentTS) })
	first := map[string]*Said{}
	var order []string
	for _, a := range rows {
		for k, n := range a.rows.Kinds() {
			if !k.Failed() {
				continue
			}
			name := string(k.Outcome)
			s := first[name]
			if s == nil {
				s = &Said{Name: name, Value: a.Value, Phase: a.Phase, Status: k.Status}
				first[name] = s
				order = append(order, name)
			}
			s.N += n
			if s.Text == "" {
				s.Text = firstWords(a.rows.Words(k.Outcome))
			}
		}
	}
	rank := func(name string) int {
		if i := slices.Index(record.Outcomes(), record.Outcome(name)); i >= 0 {
			return i
		}
		return len(record.Outcomes())
	}
	slices.SortFunc(order, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b)) })
	var out []Said
	for _, name := range order {
		out = append(out, *first[name])
	}
	return out
}

// mostWords bounds what is shown of a server's error, in characters.
const mostWords = 160

// firstWords is the beginning of a text on one line, without control characters.
func firstWords(s string) string {
	s = strings.ToValidUTF8(s[:min(len(s), 16*mostWords)], "\ufffd")
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if r := []rune(s); len(r) > mostWords {
		return string(r[:mostWords]) + "…"
	}
	return s
}

// Warmups are the failures among the warm-ups of one rung, which no stop rule
// looks at.
type Warmups struct {
	Value    float64    `json:"value"`
	Sent     int        `json:"sent"`
	Failures []Failures `json:"failures"`
	Stops    bool       `json:"stops"` // one of them would have made the rung the edge
}

// warmups lists the rungs whose warm-ups failed.
func (w *walked) warmups() []Warmups {
	var out []Warmups
	for i, rung := range w.plan.Rungs {
		t := w.warm[i].tally()
		if t.Failures == 0 {
			continue
		}
		u := Warmups{Value: rung.Value, Sent: t.Total, Failures: failures(t)}
		for _, f := range u.Failures {
			u.Stops = u.Stops || w.plan.Stop.TripsAtOnce(f.Name)
		}
		out = append(out, u)
	}
	return out
}

// listed names failures with their numbers: "2 oom, 1 timeout".
func listed(f []Failures) string {
	out := make([]string, len(f))
	for i, x := range f {
		out[i] = fmt.Sprintf("%d %s", x.N, x.Name)
	}
	return strings.Join(out, ", ")
}

// total is how many failures there are.
func total(f []Failures) int {
	n := 0
	for _, x := range f {
		n += x.N
	}
	return n
}

// TimedOut are requests of a rung that timed out, by the tokens that each was planned to
// have: of a mix it is often the longest alone.
type TimedOut struct {
	Value       float64 `json:"value"`
	InputTokens int     `json:"input_tokens"` // of all inputs of the request
	N           int     `json:"n"`
}

// timeouts lists them by rung and length, rising.
func timeouts(rows visits) []TimedOut {
	n := map[TimedOut]int{}
	for _, a := range rows {
		for k, many := range a.rows.Kinds() {
			if k.Outcome == record.Timeout {
				n[TimedOut{Value: a.Value, InputTokens: k.InputTokensPlanned}] += many
			}
		}
	}
	var out []TimedOut
	for t, k := range n {
		t.N = k
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b TimedOut) int {
		return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.InputTokens, b.InputTokens))
	})
	return out
}
