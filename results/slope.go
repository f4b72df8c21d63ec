package results

import (
	"cmp"
	"fmt"
	"math"

	"rung/spec/plan"
)

// line is how one figure grows with another: by least squares over all points, and
// the least and the greatest between two neighbours, which show whether it is a line.
type line struct {
	slope, least, most float64
	from, to           float64
	n                  int
}

// fit puts a line through points of rising x; ok is false below two.
func fit(x, y []float64) (l line, ok bool) {
	l = line{n: len(x), least: math.Inf(1), most: math.Inf(-1)}
	if l.n < 2 || x[0] >= x[l.n-1] {
		return l, false
	}
	l.from, l.to = x[0], x[l.n-1]
	mx, my := mean(x), mean(y)
	var sxy, sxx float64
	for i := range x {
		sxy += (x[i] - mx) * (y[i] - my)
		sxx += (x[i] - mx) * (x[i] - mx)
		if i > 0 && x[i] > x[i-1] {
			s := (y[i] - y[i-1]) / (x[i] - x[i-1])
			l.least, l.most = math.Min(l.least, s), math.Max(l.most, s)
		}
	}
	l.slope = sxy / sxx
	return l, finite(l.slope) != nil && finite(l.least) != nil && finite(l.most) != nil
}

// LatencySlope is how the median latency grows along a ladder of lengths.
type LatencySlope struct {
	SPer1000 float64 `json:"s_per_1000_tokens"`
	LeastS   float64 `json:"least_s"` // between two neighbouring rungs
	MostS    float64 `json:"most_s"`
	From     float64 `json:"from_tokens"`
	To       float64 `json:"to_tokens"`
	Rungs    int     `json:"rungs"`
	Of       string  `json:"of"` // what the tokens are
}

// latencySlope fits the rungs below the edge of a ladder of lengths; of outputs that
// tell their length, as long as they were.
func (w *walked) latencySlope() {
	var of string
	switch w.plan.Axis {
	case plan.AxisInputTokens:
		of = "input tokens"
	case plan.AxisOutputTokens:
		of = "output tokens"
	default:
		return
	}
	var x, y []float64
	for _, r := range w.out.Rungs {
		if r.Index >= w.edge || r.Latency == nil {
			continue
		}
		tokens := r.Value
		if w.plan.Axis == plan.AxisOutputTokens && r.Output != nil {
			tokens = r.Output.Mean
		}
		if len(x) > 0 && tokens <= x[len(x)-1] {
			continue // answers that stopped early are no longer than those below
		}
		x, y = append(x, tokens), append(y, r.Latency.MedianS)
	}
	if l, ok := fit(x, y); ok {
		w.out.Slope = &LatencySlope{1000 * l.slope, 1000 * l.least, 1000 * l.most, l.from, l.to, l.n, of}
	}
}

// words tells a slope of latency in a sentence.
func (s *LatencySlope) words() string {
	out := fmt.Sprintf("the median latency grows by %.3g s per 1,000 %s, from %.4g to %.4g", s.SPer1000, s.Of, s.From, s.To)
	if s.Rungs > 2 {
		out += fmt.Sprintf(" (%.3g to %.3g between neighbouring rungs)", s.LeastS, s.MostS)
	}
	return out
}

// MemorySlope is how the peak over idle grows with the tokens in a batch, on a
// ladder's first walk up after a start.
type MemorySlope struct {
	Ladder        string    `json:"ladder"`
	Axis          plan.Axis `json:"axis"`
	BytesPerToken *float64  `json:"bytes_per_token,omitempty"`
	Least         float64   `json:"least_bytes_per_token"` // between two neighbouring rungs
	Most          float64   `json:"most_bytes_per_token"`
	From          float64   `json:"from_tokens"` // in the batch: its inputs times their length
	To            float64   `json:"to_tokens"`
	Rungs         int       `json:"rungs"`
	Text          string    `json:"text"` // what the inputs were
	Card          string    `json:"card"`
	Reason        string    `json:"reason,omitempty"` // why there is no slope
	Note          string    `json:"note,omitempty"`
}

// alike is the ratio of two slopes below which neither is the steeper.
const alike = 1.2

// slopes holds batch against length, as observed.
func (m *memory) slopes(ladders []*walked, attached bool) (out []MemorySlope, says string) {
	silent := m.upFront || m.total != nil && m.reason == "" && m.follows(ladders)
	for i, w := range ladders {
		if w.plan.Axis != plan.AxisBatch && w.plan.Axis != plan.AxisInputTokens || len(w.out.Rungs) == 0 {
			continue
		}
		s := m.slope(w)
		if silent {
			s = MemorySlope{Ladder: s.Ladder, Axis: s.Axis, Text: s.Text, Card: s.Card, Reason: "memory does not follow the load"}
		}
		if s.BytesPerToken != nil && i == 0 && attached {
			s.Note = "earlier load unknown: the server was there before the run"
		}
		out = append(out, s)
	}
	return out, steeper(out)
}

func (m *memory) slope(w *walked) MemorySlope {
	s := MemorySlope{Ladder: w.plan.Name, Axis: w.plan.Axis, Text: textOf(w.plan.Prompt), Card: cmp.Or(m.card, "a card without a name")}
	switch {
	case m.reason != "":
		s.Reason = m.reason
	case m.idle == nil:
		s.Reason = "the idle memory is not known"
	case w.out.HighWater:
		s.Reason = "after high water: earlier load had taken memory, and the server was not started again before the ladder"
	}
	if s.Reason != "" {
		return s
	}
	var x, y []float64
	for _, r := range w.out.Rungs {
		if tokens := float64(r.Shape.Batch * r.Shape.InputTokens); r.Index < w.edge && r.Memory != nil && r.Memory.OverIdleBytes != nil &&
			(len(x) == 0 || tokens > x[len(x)-1]) {
			x, y = append(x, tokens), append(y, float64(*r.Memory.OverIdleBytes))
		}
	}
	l, ok := fit(x, y)
	if !ok {
		s.Reason = "fewer than two rungs below the edge have a peak"
		return s
	}
	s.BytesPerToken, s.Least, s.Most, s.From, s.To, s.Rungs = &l.slope, l.least, l.most, l.from, l.to, l.n
	return s
}

// textOf is what the inputs of a prompt are, for who compares.
func textOf(p plan.Prompt) string {
	if p.Kind != "" {
		return p.Kind
	}
	return fmt.Sprintf("prompt %q, whose kind of text is not declared", p.Name)
}

// steeper says which of batch and length takes more memory a token; "" where there are
// not ladders of both.
func steeper(slopes []MemorySlope) string {
	var batch, length *MemorySlope
	axes := map[plan.Axis]bool{}
	for i := range slopes {
		s := &slopes[i]
		axes[s.Axis] = true
		switch {
		case s.BytesPerToken == nil:
		case s.Axis == plan.AxisBatch && batch == nil:
			batch = s
		case s.Axis == plan.AxisInputTokens && length == nil:
			length = s
		}
	}
	observed := cmp.Or(batch, length)
	if observed == nil || len(axes) < 2 {
		return ""
	}
	texts := observed.Text
	if batch != nil && length != nil && batch.Text != length.Text {
		texts += " and " + length.Text
	}
	as := fmt.Sprintf("as observed on %s with %s", observed.Card, texts)
	if batch == nil || length == nil {
		other := plan.AxisInputTokens
		if batch == nil {
			other = plan.AxisBatch
		}
		return fmt.Sprintf("%s; there is no slope along %s to hold it against", as, other)
	}
	b, l := *batch.BytesPerToken, *length.BytesPerToken
	apart := batch.Least > length.Most || length.Least > batch.Most
	switch {
	case b <= 0 && l <= 0:
		return as + ", memory grows along neither"
	case apart && b > alike*l:
		return as + ", the batch is steeper than the length: lower the batch first"
	case apart && l > alike*b:
		return as + ", the length is steeper than the batch: lower the length limit first"
	default:
		return as + ", both grow alike: it is the product, the tokens in the batch, that binds: lower both"
	}
}
