package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"rung/sinks/record"
	"rung/spec/plan"
)

func (b *bench) used() int64 {
	s, _ := b.s.Card().Sample()
	return *s[0].MemUsedBytes
}

// From some forward on each large one leaves something behind, until none fits; a
// restart gives it back.
func TestFragmentation(t *testing.T) {
	p := params() // 6,000 bytes, of them 1,000 taken; a byte a token
	p.FragmentAfter, p.FragmentTokens, p.FragmentStep = 5, 2000, 600
	bubble(t, plan.OpenAIEmbeddings, p, func(t *testing.T, b *bench) {
		for range 20 {
			b.want(b.embed(1, 1, 1000), record.OK) // too small to matter
		}
		for round := range 2 {
			for i := 1; i <= 12; i++ {
				x := b.embed(1, 1, 2000)
				want := record.OK
				if i > 10 { // 3,000 and 600 for each from the sixth on
					want = record.OOM
				}
				b.want(x, want)
				if i <= 10 && b.used() != 3000+600*int64(max(0, i-5)) {
					t.Errorf("round %d, forward %d: used %d", round, i, b.used())
				}
			}
			b.restart()
		}
	})
}

// A size above which all fails, in each form of saying so.
func TestOOMTokens(t *testing.T) {
	for _, tt := range []struct {
		api          plan.API
		status, want int
		says         string
	}{
		{plan.OpenAIEmbeddings, 0, 500, `"error":{`}, {plan.OpenAIEmbeddings, 424, 424, `"type":"Backend"`},
		{plan.TEIEmbed, 0, 424, `"error_type":"Backend"`}, {plan.OpenAICompletions, 424, 424, `"code":424`},
	} {
		p := params()
		p.OOMTokens, p.OOMStatus = 500, tt.status
		bubble(t, tt.api, p, func(t *testing.T, b *bench) {
			send := func(tokens int) exchanged {
				if tt.api.Generates() {
					return b.complete(1, tokens-10, 10, true)
				}
				return b.embed(1, 1, tokens)
			}
			b.want(send(500), record.OK)
			x := send(501)
			b.want(x, record.OOM)
			if x.Status != tt.want || !strings.Contains(string(x.Body), tt.says) {
				t.Errorf("%s: %d %s", tt.api, x.Status, x.Body)
			}
			b.want(send(500), record.OK)
		})
	}
}

// Where memory kills, all that is under way breaks, and nothing is taken any more.
func TestOOMKills(t *testing.T) {
	p := params()
	p.OOMKills = true
	bubble(t, plan.OpenAICompletions, p, func(t *testing.T, b *bench) {
		all := together(3, func(i int) exchanged {
			if i == 1 {
				return b.complete(1, 4990, 20, true)
			}
			return b.complete(1, 100, 20, true)
		})
		b.want(all[0], record.Reset)
		b.want(all[1], record.Reset)
		b.want(all[2], record.Refused)
		log := b.entries()
		slices.SortFunc(log, func(a, b Entry) int { return b.Request - a.Request })
		if len(log) != 2 || log[0].Status != 0 || !strings.Contains(log[0].Error, "out of memory") || b.used() != 0 {
			t.Errorf("%+v, used %d", log, b.used())
		}
		b.restart()
		b.want(b.complete(1, 100, 20, true), record.OK)
	})
}

// A pool is taken at the start and stays as it is. Sequences that fit are not slowed;
// those that don't push each other out, which costs time, and none fails.
func TestPool(t *testing.T) {
	p := params() // with 4,000 of 6,000 bytes taken there is room for 3,000 tokens
	p.Preallocate, p.Slots, p.PerToken = 4000.0/6000+1e-9, 64, ms
	elapsed, preempted := map[int]time.Duration{}, map[int]string{}
	for _, n := range []int{1, 4, 6, 12, 24} {
		bubble(t, plan.OpenAICompletions, p, func(t *testing.T, b *bench) {
			if b.used() != 4000 {
				t.Errorf("idle: %d", b.used())
			}
			began := time.Now()
			end := begin(n, func(i int) exchanged { return b.complete(1000*i, 100, 400, true) })
			time.Sleep(time.Second)
			if n == 4 && b.metric("kv_cache_usage_perc") != "0.532" { // 4 of 100 and the 299 tokens of 898 ms
				t.Errorf("in use: %s", b.metric("kv_cache_usage_perc"))
			}
			for _, x := range end() {
				if b.want(x, record.OK); x.a.OutputTokens == nil {
					t.Fatalf("%+v %v", x.a, x.Err)
				}
				if *x.a.OutputTokens != 400 || *x.a.Chunks != 400 {
					t.Errorf("%d tokens", *x.a.OutputTokens)
				}
			}
			elapsed[n], preempted[n] = time.Since(began), b.metric("num_preemptions_total")
			if b.used() != 4000 || b.metric("kv_cache_usage_perc") != "0" || b.metric("num_requests_waiting") != "0" || b.metric("num_requests_running") != "0" {
				t.Errorf("after: used %d\n%s", b.used(), b.page("/metrics"))
			}
		})
	}
	alone := 102*time.Millisecond + 400*3*time.Millisecond
	if elapsed[1] != alone || elapsed[6] != alone || preempted[6] != "0" { // 6 of 500 just fit
		t.Errorf("what fits: %v, preempted %v", elapsed, preempted)
	}
	rate := func(n int) float64 { return float64(400*n) / elapsed[n].Seconds() }
	if rate(12) >= rate(6) || rate(24) >= rate(6) || preempted[12] == "0" || preempted[24] == "0" {
		t.Errorf("beyond the pool: %v, preempted %v, %.0f then %.0f tokens a second", elapsed, preempted, rate(6), rate(12))
	}
}

// What can never fit the pool is refused, and the same load gives the same times again.
func TestPoolBounds(t *testing.T) {
	p := params()
	p.Preallocate, p.Slots, p.Noise = 0.5, 8, 0.05 // 2,000 tokens; with noise no two things happen at one moment
	var before []time.Duration
	for range 2 {
		bubble(t, plan.OpenAICompletions, p, func(t *testing.T, b *bench) {
			b.want(b.complete(1, 1900, 101, true), record.TooLong)
			b.want(b.complete(1, 1900, 100, true), record.OK)
			if !strings.Contains(b.page("/v1/models"), `"max_model_len":2000`) {
				t.Error(b.page("/v1/models"))
			}
			var now []time.Duration
			for _, x := range together(8, func(i int) exchanged { return b.complete(i, 100+i, 300, false) }) {
				b.want(x, record.OK)
				now = append(now, x.took())
			}
			for i := range before {
				if now[i] != before[i] {
					t.Errorf("sequence %d: %s, before %s", i, now[i], before[i])
				}
			}
			before = now
		})
	}
	bubble(t, plan.OpenAIEmbeddings, p, func(_ *testing.T, b *bench) {
		b.want(b.embed(1, 1, 2000), record.OK)
		b.want(b.embed(1, 2, 1001), record.OOM)
	})
}

// Beside its tokens a forward takes memory for each input, and for each pair of tokens of
// one, as long as the longest.
func TestMemoryBesideTokens(t *testing.T) {
	p := params() // a byte a token, 1,000 bytes taken
	p.MemoryPerInput, p.MemoryPerPair = 100, 2
	bubble(t, plan.OpenAIEmbeddings, p, func(t *testing.T, b *bench) {
		b.want(b.embed(1, 3, 20), record.OK)
		if want := int64(1000 + 3*20 + 3*100 + 3*2*20*20); b.used() != want {
			t.Errorf("used %d, want %d", b.used(), want)
		}
		b.want(b.embed(1, 1, 60), record.OOM) // 2 * 60 * 60
		b.want(b.embed(1, 3, 20), record.OK)
	})
}
