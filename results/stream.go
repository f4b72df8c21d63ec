package results

import (
	"cmp"
	"math"
	"slices"

	"rung/results/rows"
	"rung/sinks/record"
)

// Stream is what a rung's streams showed before their end, over its counted
// successes.
type Stream struct {
	TTFT *Latency `json:"ttft,omitempty"` // from due to the first generated token of any channel
	TPOT *Latency `json:"tpot,omitempty"` // per output token after the first; of answers of two or more
	Gaps *Gaps    `json:"chunk_gaps,omitempty"`
	// Untimed are successes without a first token: not streamed, or empty.
	Untimed int `json:"without_first_token"`
}

// Gaps are the gaps between the chunks of all streams of a rung. A chunk is not a
// token. Those of one answer hang together, so that a percentile is held by as many
// values as there are answers, not gaps.
type Gaps struct {
	Latency
	Answers int `json:"answers"`
}

// stream sums up what streams showed; nil where nothing was streamed.
func (v visits) stream() *Stream {
	var s Stream
	var ttft, tpot, gaps []float64
	answers := 0
	for r := range v.successes() {
		if t := r.TTFTS(); finite(t) != nil {
			ttft = append(ttft, t)
		} else {
			s.Untimed++
		}
		if t := r.TPOTS(); finite(t) != nil {
			tpot = append(tpot, t)
		}
		before := len(gaps)
		for _, g := range r.ChunkGapsS {
			if isTime(g) {
				gaps = append(gaps, g)
			}
		}
		if len(gaps) > before {
			answers++
		}
	}
	if len(ttft) == 0 && len(gaps) == 0 {
		return nil
	}
	s.TTFT, s.TPOT = summarise(ttft), summarise(tpot)
	if l := summarise(gaps); l != nil {
		s.Gaps = &Gaps{Latency: *l, Answers: answers}
		s.Gaps.MedianIn, s.Gaps.P95In, s.Gaps.P99In = nil, nil, nil
		s.Gaps.P95Supported, s.Gaps.P99Supported = answers >= P95Needs, answers >= P99Needs
	}
	return &s
}

// Answers are how a rung's counted successes of a generating model ended.
type Answers struct {
	N            int        `json:"n"`
	Finish       []Failures `json:"finish_reasons,omitempty"` // the server's words; "" is none
	WithoutUsage int        `json:"without_usage"`            // of which no output tokens are known
}

// answers counts how successes ended; nil where there are none.
func (v visits) answers() *Answers {
	var a Answers
	byReason := map[string]int{}
	for k, n := range v.succeeded() {
		a.N += n
		byReason[firstWords(k.FinishReason)] += n
		if k.OutputTokens == nil {
			a.WithoutUsage += n
		}
	}
	if a.N == 0 {
		return nil
	}
	for name, n := range byReason {
		a.Finish = append(a.Finish, Failures{name, n})
	}
	slices.SortFunc(a.Finish, func(x, y Failures) int { return cmp.Or(cmp.Compare(y.N, x.N), cmp.Compare(x.Name, y.Name)) })
	return &a
}

// usageMissing says in how many answers of a ladder the tokens are not known.
func (l *Ladder) usageMissing() (without, of int) {
	for _, r := range l.Rungs {
		if r.Answers != nil {
			without, of = without+r.Answers.WithoutUsage, of+r.Answers.N
		}
	}
	return without, of
}

// Goodput is what of a rung's requests met the declared objectives.
type Goodput struct {
	PerS   *float64 `json:"per_s,omitempty"` // in the steady windows, a second
	Share  *float64 `json:"share,omitempty"` // of the requests of the rounds that count
	Good   int      `json:"good"`
	Of     int      `json:"of"`
	Reason string   `json:"reason,omitempty"` // why it is not evaluable
}

// goodput counts the successes that meet every declared part; nil where none is
// declared. What lacks the data for a part meets nothing and fails nothing: then there
// is no figure.
func (w *walked) goodput(v visits, rung int) *Goodput {
	slo := w.slo
	if slo == nil || len(v) == 0 {
		return nil
	}
	var g Goodput
	for _, a := range v {
		for r := range a.rows.All() {
			if r.ResetIdle || r.Outcome == record.Cancelled {
				continue
			}
			g.Of++
			if r.Outcome != record.OK {
				continue
			}
			good, why := slo.meets(r)
			if why != "" {
				return &Goodput{Of: g.Of, Reason: "not evaluable: " + why}
			}
			if good {
				g.Good++
			}
		}
	}
	f := w.flow(v, rung, func(a attempt) func(int) float64 {
		return func(i int) float64 {
			r := a.rows.At(i)
			if good, _ := slo.meets(r); good && r.Outcome == record.OK {
				return 1
			}
			return 0
		}
	})
	g.PerS = f.over(f.Work)
	if g.Of > 0 {
		g.Share = finite(float64(g.Good) / float64(g.Of))
	}
	if g.PerS == nil {
		g.Reason = "no steady window"
	}
	return &g
}

// objectives are the declared parts, in seconds; 0 leaves one out.
type objectives struct{ latency, ttft, tpot float64 }

// meets says whether a success meets all parts, or why that can't be told.
func (o objectives) meets(r rows.Row) (good bool, why string) {
	good = o.latency == 0 || r.LatencyS() <= o.latency
	if o.ttft > 0 {
		t := r.TTFTS()
		if math.IsNaN(t) {
			return false, "ttft, and an answer has no first token (it was not streamed, or gave none)"
		}
		good = good && t <= o.ttft
	}
	if o.tpot > 0 {
		switch t := r.TPOTS(); {
		case r.OutputTokens == nil:
			return false, "tpot, and the output tokens of an answer are not known"
		case *r.OutputTokens < 2: // there is no token after the first
		case math.IsNaN(t):
			return false, "tpot, and an answer has no first token (it was not streamed, or gave none)"
		default:
			good = good && t <= o.tpot
		}
	}
	return good, ""
}
