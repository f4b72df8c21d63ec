package spec

import (
	"time"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"rung/spec/plan"
)

// Bounds on ladders.
const (
	maxRung    = 1_000_000 // the value of a rung
	minRate    = 0.001     // requests a second
	maxRungs   = 1_000     // of one ladder
	maxLadders = 100       // of one file
	maxPasses  = 100
	maxCount   = 1_000_000 // rounds, requests, warm-ups
)

// ladder is a decoded ladder block, its rungs and passes expanded.
type ladder struct {
	plan.Ladder
	f      *fields
	prompt prompt // without a name where the block's own is wrong
	batch  int    // fixed
	fixed  int    // requests in flight where the axis does not set them
	passes int
	once   bool // walked once, and meant so

	rounds, requests, warmup int           // as the block says; 0, 0, -1 where it does not
	duration                 time.Duration // of a round in place of requests, else 0
}

// fixedBatch is the batch of a single request before the ladder begins.
func (l ladder) fixedBatch() int {
	if l.Axis == plan.AxisBatch {
		return 1
	}
	return l.batch
}

func ladderSchema() schema {
	return schema{
		kind: "ladder", labels: 1,
		attrs: []string{"axis", "rungs", "prompt", "batch", "concurrency", "passes", "rounds", "requests", "duration", "warmup",
			"cooldown", "reruns", "arrivals", "max_in_flight"},
		required: []string{"rungs"},
		blocks:   []string{"stop", "settle"},
	}
}

func settleSchema() schema {
	return schema{kind: "settle", attrs: []string{"timeout", "memory", "temperature", "clock"}}
}

func axes() []string {
	return []string{string(plan.AxisBatch), string(plan.AxisConcurrency), string(plan.AxisInputTokens), string(plan.AxisOutputTokens),
		string(plan.AxisRate)}
}

// ladders decodes all ladder blocks, in order.
func (l *loader) ladders(prompts []prompt, api plan.API) []ladder {
	var out []ladder
	first := map[string]*hclsyntax.Block{}
	for _, b := range l.blocksOf("ladder") {
		if len(out) == maxLadders {
			l.errorAt(b.DefRange(), sumTooMany, "A file may have %d ladders.", maxLadders)
			break
		}
		f := l.open(b, ladderSchema())
		if !l.usableName(b) {
			continue
		}
		d := l.ladder(f, prompts, api)
		if one := first[f.label()]; one != nil {
			l.duplicate(b, one)
			continue
		}
		first[f.label()] = b
		out = append(out, d)
	}
	if len(l.blocksOf("ladder")) == 0 {
		l.fileError(sumMissingBlock, `The file has no block ladder: ladder "batch" { rungs = [1, 2, 4, 8] }`)
	}
	return out
}

func (l *loader) ladder(f *fields, prompts []prompt, api plan.API) ladder {
	out := ladder{f: f}
	out.Name = f.label()
	out.Axis = l.axis(f)
	values := f.rungs(out.Axis)
	if values != nil && len(values) == 0 {
		l.errorAt(f.rng("rungs"), sumOutOfRange, "A ladder needs at least one rung.")
	}
	out.batch = f.count("batch", 1, 1, maxRung)
	out.fixed = f.count("concurrency", 1, 1, maxRung)
	l.rounds(f, &out)
	l.openLoop(f, &out)
	l.pause(f, &out)
	out.Stop = l.stop(f.sub(stopSchema()))
	p, ok := f.promptOf(prompts)
	if ok {
		out.prompt, out.Prompt = p, p.Prompt
	}
	if out.Axis == "" {
		return out
	}
	l.checkFixed(f, out, api)
	l.checkLength(f, out, api)
	out.Rungs = out.expand(values)
	out.Passes = walks(out.passes, len(values))
	l.checkLadder(f, out, values)
	return out
}

// axis is what the block says, else its label; "" where neither is one.
func (l *loader) axis(f *fields) plan.Axis {
	if f.given("axis") {
		return plan.Axis(f.choice("axis", "", axes()))
	}
	return plan.Axis(l.choose(f.block.LabelRanges[0], "The label of a ladder without an axis", f.label(), "", axes()))
}

// expand makes rungs of the values, with the defaults that follow from how many requests
// are in flight.
func (l ladder) expand(values []float64) []plan.Rung {
	out := make([]plan.Rung, len(values))
	for i, v := range values {
		r := plan.Rung{Index: i, Value: v, Rounds: l.rounds, Requests: l.requests, Warmup: l.warmup, Duration: plan.Duration(l.duration)}
		r.Shape = l.shape(v)
		n := r.Shape.InFlight
		if l.rounds == 0 {
			r.Rounds = l.defaultRounds(n)
		}
		if l.requests == 0 && l.duration == 0 {
			r.Requests = defaultRequests(l.Axis, n)
		}
		if l.warmup < 0 {
			r.Warmup = l.defaultWarmup(n)
		}
		out[i] = r
	}
	return out
}

// shape is a request's at a rung of the value v.
func (l ladder) shape(v float64) plan.Shape {
	s := plan.Shape{Batch: l.batch, InputTokens: l.prompt.tokens, OutputTokens: l.prompt.output, InFlight: l.fixed}
	switch l.Axis {
	case plan.AxisBatch:
		s.Batch = int(v)
	case plan.AxisConcurrency:
		s.InFlight = int(v)
	case plan.AxisInputTokens:
		s.InputTokens = int(v)
	case plan.AxisOutputTokens:
		s.OutputTokens = int(v)
	case plan.AxisRate: // fixed is what may be in flight
	}
	return s
}

// defaultRounds: one request at a time makes twenty short rounds, each admitted or
// refused alone; with several in flight a round needs a steady middle, so it is
// one long one, and so is a round that has a duration.
func (l ladder) defaultRounds(inFlight int) int {
	if l.Axis == plan.AxisConcurrency || inFlight > 1 || l.duration > 0 {
		return 1
	}
	return 20
}

// defaultWarmup: as many as are in flight, so that each has been there once. In an
// open loop nobody knows how many that will be.
func (l ladder) defaultWarmup(inFlight int) int {
	if l.Axis == plan.AxisRate {
		return 3
	}
	return max(3, inFlight)
}

func defaultRequests(axis plan.Axis, inFlight int) int {
	if axis == plan.AxisConcurrency || inFlight > 1 {
		return max(40, 10*inFlight)
	}
	return 1
}

// walks are the passes: up, down, up and so on, so that what drifts with time does
// not look like what rises with the axis.
func walks(passes, rungs int) []plan.Pass {
	out := make([]plan.Pass, passes)
	for i := range out {
		p := plan.Pass{Index: i, Up: i%2 == 0, Order: make([]int, rungs)}
		for j := range p.Order {
			p.Order[j] = j
			if !p.Up {
				p.Order[j] = rungs - 1 - j
			}
		}
		out[i] = p
	}
	return out
}
