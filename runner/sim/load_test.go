package sim

import (
	"math"
	"testing"
	"time"

	"rung/runner/target"
	"rung/sinks/record"
	"rung/spec/plan"
)

// Beyond the queue requests are refused, in the API's own words, and what was let in
// is answered.
func TestQueue(t *testing.T) {
	for _, tt := range []struct {
		api    plan.API
		status int
		want   record.Outcome
	}{
		{plan.OpenAIEmbeddings, 0, record.Overloaded}, {plan.TEIEmbed, 0, record.Overloaded}, {plan.OpenAIEmbeddings, 503, record.Unavailable},
		{plan.OpenAICompletions, 0, record.Overloaded}, {plan.OpenAICompletions, 503, record.Unavailable},
	} {
		p := params()
		p.MaxBatch, p.MaxQueue, p.QueueStatus = 1, 3, tt.status
		let := 4 // one in a forward and three that wait
		if tt.api.Generates() {
			let = 5 // two slots
		}
		bubble(t, tt.api, p, func(t *testing.T, b *bench) {
			all := together(10, func(i int) exchanged {
				if tt.api.Generates() {
					return b.complete(100*i, 10, 4, true)
				}
				return b.embed(100*i, 1, 10)
			})
			for i, x := range all {
				if i < let {
					b.want(x, record.OK)
					continue
				}
				b.want(x, tt.want)
				b.span(x, 0)
			}
			if tt.api.Generates() {
				b.want(b.complete(1, 10, 4, true), record.OK)
			} else {
				b.want(b.embed(1, 1, 10), record.OK)
			}
			if got := b.metric("num_requests_waiting"); got != "0" {
				t.Errorf("%s wait at the end", got)
			}
		})
	}
}

// Each further sequence slows a step by its share, so that throughput has the limit
// 1/(PerOutputToken·DecodeSlowdown).
func TestDecodeSlowdown(t *testing.T) {
	p := params()
	p.DecodeSlowdown, p.Slots = 0.25, 16
	for _, n := range []int{1, 2, 5, 9} {
		for _, stream := range []bool{true, false} {
			bubble(t, plan.OpenAICompletions, p, func(_ *testing.T, b *bench) {
				step := time.Duration(float64(3*time.Millisecond) * (1 + 0.25*float64(n-1)))
				for _, x := range together(n, func(i int) exchanged { return b.complete(100*i, 10, 20, stream) }) {
					b.want(x, record.OK)
					b.span(x, 12*time.Millisecond+20*step)
				}
			})
		}
	}
}

// The first request of each shape takes longer, and after a restart again.
func TestCompile(t *testing.T) {
	p := params()
	p.Compile = plan.Duration(3 * time.Second)
	bubble(t, plan.OpenAIEmbeddings, p, func(t *testing.T, b *bench) {
		cold, warm := 3012*time.Millisecond, 12*time.Millisecond
		for i, tt := range []struct {
			inputs, tokens int
			want           time.Duration
		}{{1, 100, cold}, {1, 100, warm}, {1, 65, warm}, {1, 128, warm}, {1, 129, cold}, {2, 100, cold}, {2, 128, warm}, {1, 64, cold}} {
			if x := b.embed(1, tt.inputs, tt.tokens); x.took() != tt.want {
				t.Errorf("%d: %s, want %s", i, x.took(), tt.want)
			}
		}
		b.restart()
		b.span(b.embed(1, 1, 100), cold)
	})
	bubble(t, plan.OpenAIChat, p, func(_ *testing.T, b *bench) {
		b.span(b.say("a", target.Options{OutputTokens: 1, Stream: true}), 3015*time.Millisecond)
		b.span(b.say("b", target.Options{OutputTokens: 1, Stream: true}), 15*time.Millisecond)
	})
}

// A hot card is slower and says why; after a silence the clocks have to rise.
func TestClocks(t *testing.T) {
	p := params()
	p.ThrottleShare, p.ThrottleAt, p.ThrottleFor = 0.25, plan.Duration(10*time.Second), plan.Duration(5*time.Second)
	p.IdleClockAfter = plan.Duration(2 * time.Second)
	bubble(t, plan.OpenAIEmbeddings, p, func(t *testing.T, b *bench) {
		begin := time.Now()
		card := func(clock float64, bits int64) {
			t.Helper()
			s, _ := b.s.Card().Sample()
			if *s[0].SMClockMHz != clock || *s[0].ThrottleReasons != bits {
				t.Errorf("at %s: %g MHz, reasons %#x", time.Since(begin), *s[0].SMClockMHz, *s[0].ThrottleReasons)
			}
		}
		cool := 12 * time.Millisecond
		b.span(b.embed(1, 1, 10), cool)
		card(clockFullMHz, 0)
		time.Sleep(3 * time.Second)
		card(clockIdleMHz, 0)
		b.span(b.embed(1, 1, 10), cool+20*time.Millisecond)
		b.span(b.embed(1, 1, 10), cool)
		time.Sleep(time.Until(begin.Add(11 * time.Second)))
		b.embed(1, 1, 10)
		b.span(b.embed(1, 1, 10), 16*time.Millisecond) // at three quarters of the speed
		card(1485, thermalBit)
		time.Sleep(time.Until(begin.Add(15 * time.Second)))
		b.embed(1, 1, 10)
		b.span(b.embed(1, 1, 10), cool)
		card(clockFullMHz, 0)
	})
}

// What a busy card shows, by what it is bound by.
func TestBounds(t *testing.T) {
	for name, want := range map[string][3]float64{"": {50, 20, 165}, "host": {50, 15, 120}, "bandwidth": {50, 47.5, 127.5}} {
		p := params()
		p.Bound = name
		bubble(t, plan.OpenAIEmbeddings, p, func(t *testing.T, b *bench) {
			_, _ = b.s.Card().Sample()
			b.embed(1, 1, 10)
			time.Sleep(12 * time.Millisecond)
			s, _ := b.s.Card().Sample()
			if got := [3]float64{*s[0].UtilGPUPct, *s[0].UtilMemPct, *s[0].PowerW}; got != want {
				t.Errorf("%q: %v, want %v", name, got, want)
			}
		})
	}
}

// A card that the host feeds works in bursts, and is idle between them with requests in
// flight.
func TestHostBursts(t *testing.T) {
	p := params()
	p.Bound, p.Floor = "host", plan.Duration(1200*time.Millisecond)
	bubble(t, plan.OpenAIEmbeddings, p, func(t *testing.T, b *bench) {
		_, _ = b.s.Card().Sample()
		end := begin(1, func(int) exchanged { return b.embed(1, 1, 10) })
		sum, idle := 0.0, 0
		for range 12 {
			time.Sleep(100 * time.Millisecond)
			s, _ := b.s.Card().Sample()
			if sum += *s[0].UtilGPUPct; *s[0].UtilGPUPct == 0 {
				idle++
			}
		}
		if math.Abs(sum/12-35) > 0.1 || idle != 6 {
			t.Errorf("utilisation %.1f %% on average, 0 in %d of 12", sum/12, idle)
		}
		end()
	})
}

// What does not fit the card goes to the host's memory where the spec says so: it takes
// longer, the card is less busy, and nothing fails.
func TestSpill(t *testing.T) {
	p := params() // 6,000 bytes, of them 1,000 taken; a byte a token
	p.SpillFactor, p.PerToken = 4, plan.Duration(10*time.Microsecond)
	bubble(t, plan.OpenAIEmbeddings, p, func(t *testing.T, b *bench) {
		b.span(b.embed(1, 1, 5000), 52*time.Millisecond)
		_, _ = b.s.Card().Sample()
		end := begin(1, func(int) exchanged { return b.embed(1, 2, 5000) })
		time.Sleep(100 * time.Millisecond)
		s, _ := b.s.Card().Sample()
		if *s[0].MemUsedBytes != 6000 || *s[0].UtilGPUPct != 40 {
			t.Errorf("used %d, utilisation %g", *s[0].MemUsedBytes, *s[0].UtilGPUPct)
		}
		for _, x := range end() {
			b.span(x, 4*102*time.Millisecond)
		}
		b.span(b.embed(1, 1, 5000), 52*time.Millisecond)
	})
}

// The card counts its energy, and lists what computes on it.
func TestEnergyAndProcesses(t *testing.T) {
	p := params()
	p.Faults = []plan.Fault{{Kind: plan.FaultInterference, At: plan.Duration(time.Second), For: plan.Duration(time.Second)}}
	bubble(t, plan.OpenAIEmbeddings, p, func(t *testing.T, b *bench) {
		for at, want := range []int{1, 2, 1} { // at 0, 1 and 2 s
			s, _ := b.s.Card().Sample()
			if len(s[0].Processes) != want || math.Abs(*s[0].EnergyJ-60*float64(at)) > 1e-6 {
				t.Errorf("at %d s: %v, %g J", at, s[0].Processes, *s[0].EnergyJ)
			}
			time.Sleep(time.Second)
		}
	})
}
