package runner

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"rung/sinks/record"
	"rung/spec/plan"
)

// The first request of a shape compiles, and a server that lay idle is slower at
// first: warm-ups of each rung's own shape take both, and the gap is on record.
func TestCase53(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		compiled, last := map[int]bool{}, time.Now()
		f.answer = func(q asked) said {
			after := time.Second
			if !compiled[q.inputs] {
				after += 3 * time.Second
			}
			if time.Since(last) >= time.Minute {
				after += 300 * time.Millisecond
			}
			compiled[q.inputs], last = true, time.Now().Add(after)
			return said{after: after}
		}
		l := batchLadder("batch", 2, 2, 3, 1, 2, 4)
		l.Cooldown = plan.Duration(time.Minute)
		out := walkAll(t, config(f.net, l))
		for _, r := range out.rows(phase(record.Measure)) {
			if math.Abs(r.LatencyS()-1) > 1e-6 || r.GapS == nil || *r.GapS > 0.1 {
				t.Errorf("rung %g: %g s after %v", r.Value, r.LatencyS(), r.GapS)
			}
		}
		warm := out.rows(phase(record.Warmup))
		for i, r := range warm[1:] { // before the first comes the probe, of its shape
			if r.Inputs != int(r.Value) || r.GapS == nil || math.Abs(*r.GapS-60) > 0.1 || r.LatencyS() < 1.29 {
				t.Errorf("warm-up %d at %g: %d inputs, %g s, gap %v", i, r.Value, r.Inputs, r.LatencyS(), r.GapS)
			}
		}
		if len(warm) != 6 {
			t.Errorf("%d warm-ups", len(warm))
		}
	})
}

// However long a server asks to be left alone, the pause between rounds is bounded.
func TestPausesAreBounded(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFake(t)
		f.answer = func(q asked) said {
			if q.n == 5 {
				return said{status: http.StatusTooManyRequests, body: "slow down", header: map[string]string{"Retry-After": "86400"}}
			}
			return said{}
		}
		l := batchLadder("batch", 1, 2, 3, 1)
		l.Stop = plan.Stop{FailureRatio: 1}
		rows := walkAll(t, config(f.net, l)).rows(phase(record.Measure))
		if gap := rows[3].SentTS - rows[2].DoneTS; gap < 60 || gap > 60.1 {
			t.Errorf("%g s between the rounds", gap)
		}
	})
}

// A request that follows more than 5 s of silence is a warm-up: clocks have fallen by
// then.
func TestCase54(t *testing.T) {
	for wait, want := range map[string]int{"10": 1, "4": 0} {
		bubble(t, func(t *testing.T) {
			f := newFake(t)
			var last time.Time
			f.answer = func(q asked) said {
				after := 100 * time.Millisecond
				if time.Since(last) > 5*time.Second {
					after += 20 * time.Millisecond
				}
				last = time.Now().Add(after)
				if q.n == 5 { // the end of the first round
					return said{after: after, status: http.StatusTooManyRequests, body: "slow down", header: map[string]string{"Retry-After": wait}}
				}
				return said{after: after}
			}
			l := batchLadder("batch", 1, 2, 3, 1)
			l.Stop = plan.Stop{FailureRatio: 1}
			out := walkAll(t, config(f.net, l))
			for _, r := range out.rows(phase(record.Measure)) {
				if math.Abs(r.LatencyS()-0.1) > 1e-6 || r.GapS == nil || *r.GapS > 5 {
					t.Errorf("round %d: %g s after %v", r.Round, r.LatencyS(), *r.GapS)
				}
			}
			again := out.rows(phase(record.Warmup), func(r record.Request) bool { return r.Round == 1 })
			if len(again) != want {
				t.Fatalf("%d warm-ups after %s s", len(again), wait)
			}
			if want == 1 && (again[0].Counted || math.Abs(again[0].LatencyS()-0.12) > 1e-6 || math.Abs(*again[0].GapS-10) > 0.1) {
				t.Errorf("%+v", again[0])
			}
		})
	}
}

// clocked is a card whose SM clock and throttle reasons are set from outside.
type clocked struct {
	card
	mhz, bits atomic.Int64
}

func (c *clocked) Sample() ([]record.Sample, error) {
	return []record.Sample{{UUID: "GPU-x", SMClockMHz: new(float64(c.mhz.Load())), ThrottleReasons: new(c.bits.Load())}}, nil
}

// A card that falls behind its own clock, or gives a slowdown as its reason, voids the
// round: it is kept, and run again. A power cap is a condition.
func TestCase55(t *testing.T) {
	for _, tt := range []struct {
		name      string
		mhz, bits int64
		want      string // why the round is refused; "" where it is not
	}{
		{"15 % below", 1580, 0, "throttled: the SM clock was 1580 MHz, 1965 MHz before at this rung"},
		{"4 % below", 1887, 0, ""},
		{"a slowdown by heat", 1965, 0x20, "throttled: the GPU gave a slowdown as its throttle reason (bits 0x20)"},
		{"a slowdown by the hardware", 1965, 0x8, "throttled: the GPU gave a slowdown as its throttle reason (bits 0x8)"},
		{"a power cap", 1965, 0x4, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f, c := newFake(t), &clocked{}
				f.answer = func(q asked) said {
					c.mhz.Store(1965)
					c.bits.Store(0)
					if q.n > 12 && q.n <= 17 { // the third round: after a probe, a warm-up and ten
						c.mhz.Store(tt.mhz)
						c.bits.Store(tt.bits)
					}
					return said{after: 970 * time.Millisecond} // so that no sample is due as a round begins
				}
				cfg := config(f.net, batchLadder("batch", 1, 4, 5, 1))
				cfg.Sampler = c
				out := walkAll(t, cfg)
				var refused []string
				for _, e := range out.events(record.RoundEnd) {
					if e.Verdict == record.Rejected {
						refused = append(refused, fmt.Sprintf("round %d attempt %d: %s", e.Round, e.Attempt, e.Reason))
					}
				}
				if tt.want == "" && len(refused) > 0 || tt.want != "" && (len(refused) != 1 || refused[0] != "round 2 attempt 0: "+tt.want) {
					t.Errorf("%q", refused)
				}
				counted := out.rows(phase(record.Measure), func(r record.Request) bool { return r.Counted })
				if len(counted) != 20 || f.seen() != 22+5*len(refused) {
					t.Errorf("%d counted, %d sent", len(counted), f.seen())
				}
			})
		})
	}
}

// A round that the server answers from its cache measured the cache: it is refused,
// unless it is the template that all share, a few tokens by chance, or the spec that
// asks for the same prompts again.
func TestServedFromTheCache(t *testing.T) {
	for _, tt := range []struct {
		name   string
		shared int // tokens before the text
		cached int // of each request
		batch  int
		reuse  plan.Reuse
		want   bool
	}{
		{"nothing", 0, 0, 1, plan.Unique, false},
		{"a few by chance", 0, 5, 1, plan.Unique, false},
		{"a block", 0, 16, 1, plan.Unique, true},
		{"the template's block", 3, 16, 1, plan.Unique, false},
		{"one token more", 3, 17, 1, plan.Unique, true},
		{"blocks of a batch", 3, 48, 3, plan.Unique, false},
		{"more in a batch", 3, 49, 3, plan.Unique, true},
		{"the same again", 0, 16, 1, plan.Same, true},
		{"one of a few", 0, 16, 1, plan.Pool, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				f := newFake(t)
				if tt.shared > 0 {
					textOnly(f, tt.shared)
					f.tokenise = tokeniser(tt.shared, 0)
				}
				answer := f.answer
				f.answer = func(q asked) said {
					s := said{}
					if answer != nil {
						s = answer(q)
					}
					s.cached = tt.cached
					return s
				}
				l := batchLadder("batch", 1, 1, 2, tt.batch)
				l.Prompt.Reuse, l.Prompt.Pool, l.Reruns = tt.reuse, 4, 1
				out := walkAll(t, config(f.net, l))
				ends := out.events(record.RoundEnd)
				if refused := ends[0].Verdict == record.Rejected; refused != tt.want || refused && !strings.HasPrefix(ends[0].Reason, "served from the cache: ") || (len(ends) == 2) != tt.want {
					t.Errorf("%d rounds, %s: %s", len(ends), ends[0].Verdict, ends[0].Reason)
				}
			})
		})
	}
}

// Where answers do not say what came from the cache, the server's own counter does.
func TestCacheByCounter(t *testing.T) {
	for _, each := range []int{0, 2, 64} {
		bubble(t, func(t *testing.T) {
			f := newFake(t)
			f.metrics = func() string {
				return fmt.Sprintf("vllm:prefix_cache_hits_total{engine=\"0\"} %d\n", each*f.seen())
			}
			f.answer = func(q asked) said {
				return said{body: fmt.Sprintf(`{"data":[{"index":0,"embedding":[1,0.5]}],"usage":{"prompt_tokens":%d}}`, q.tokens)}
			}
			l := batchLadder("batch", 1, 1, 4, 1)
			l.Reruns = 0
			end := walkAll(t, config(f.net, l)).events(record.RoundEnd)[0]
			if refused := end.Verdict == record.Rejected; refused != (each == 64) || refused && !strings.Contains(end.Reason, "256 prompt tokens of 4 requests came from the server's prefix cache, by its own counter") {
				t.Errorf("%d tokens a request: %s, %s", each, end.Verdict, end.Reason)
			}
		})
	}
}
