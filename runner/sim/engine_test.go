package sim

import (
	"context"
	"crypto/sha256"
	"errors"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"rung/sinks/record"
	"rung/spec/plan"
)

const ms = plan.Duration(time.Millisecond)

// params is a model whose figures are easy to reckon with: 2 ms + max(10 ms, 1 ms
// for 100 tokens), and out of memory above 5,000 tokens at once.
func params() plan.Simulator {
	return plan.Simulator{Overhead: 2 * ms, Floor: 10 * ms, PerToken: ms / 100, PerOutputToken: 3 * ms, MaxBatch: 4, Slots: 2,
		MaxInputTokens: 8192, SpecialTokens: 2, MemoryTotal: 6000, MemoryIdle: 1000, MemoryPerToken: 1}
}

func TestServiceTime(t *testing.T) {
	p := params()
	for tokens, want := range map[int]time.Duration{0: 12 * time.Millisecond, 1: 12 * time.Millisecond, 1000: 12 * time.Millisecond, 1001: 12010 * time.Microsecond, 4000: 42 * time.Millisecond} {
		if got := forwardTime(p, tokens); got != want {
			t.Errorf("forward of %d tokens: %s, want %s", tokens, got, want)
		}
	}
	if got, want := chatTime(p, 4000, 10), 72*time.Millisecond; got != want {
		t.Errorf("chat: %s, want %s", got, want)
	}
}

// The noise has a mean of 1 and the declared spread, and belongs to the request.
func TestNoise(t *testing.T) {
	const n = 200_000
	for _, want := range []float64{0.1, 0.2, 0.5, 1} {
		p := params()
		p.Noise = want
		e := newEngine(p, NewCard(p), 7)
		var sum, squares float64
		for i := range n {
			d := sha256.Sum256([]byte{byte(i), byte(i >> 8), byte(i >> 16)})
			v := e.noisy(time.Second, d).Seconds()
			if again := e.noisy(time.Second, d).Seconds(); again != v {
				t.Fatal("the same request took another time")
			}
			sum += v
			squares += v * v
		}
		mean := sum / n
		cv := math.Sqrt(squares/n-mean*mean) / mean
		if math.Abs(mean-1) > 0.01 || math.Abs(cv/want-1) > 0.03 {
			t.Errorf("mean %.4f, coefficient of variation %.4f, want 1 and %g", mean, cv, want)
		}
	}
}

// Batches take what the roofline says, up to the one that the memory can't hold: knee,
// boundary and memory are known before a request is sent.
func TestClosedForms(t *testing.T) {
	p := params() // 1,000 tokens take 10 ms, as the weights do; 5,000 fit
	bubble(t, plan.OpenAIEmbeddings, p, func(t *testing.T, b *bench) {
		for batch := 1; batch <= 60; batch++ {
			x := b.embed(1, batch, 100)
			if batch > 50 {
				b.want(x, record.OOM)
				b.span(x, 0)
				continue
			}
			b.want(x, record.OK)
			want := 12 * time.Millisecond
			if batch > 10 {
				want += time.Duration(batch-10) * time.Millisecond
			}
			b.span(x, want)
			if b.used() != 1000+100*int64(batch) {
				t.Errorf("batch %d: used %d", batch, b.used())
			}
		}
	})
}

// finished is a piece of work and when it was done.
type finished struct {
	at  time.Duration
	err error
}

// inBubble runs an engine in virtual time.
func inBubble(t *testing.T, p plan.Simulator, f func(t *testing.T, e *engine, start time.Time)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		e := newEngine(p, NewCard(p), 1)
		var wg sync.WaitGroup
		wg.Go(func() { e.run(ctx) })
		f(t, e, time.Now())
		cancel()
		wg.Wait()
	})
}

// send gives the engine jobs in order, the next only when the one before waits.
func send(ctx context.Context, e *engine, start time.Time, jobs ...job) []finished {
	out := make([]finished, len(jobs))
	var wg sync.WaitGroup
	for i := range jobs {
		j := jobs[i]
		j.done = make(chan error, 1)
		wg.Go(func() {
			err := e.embed(ctx, &j)
			out[i] = finished{time.Since(start), err}
		})
		synctest.Wait()
	}
	wg.Wait()
	return out
}

func check(t *testing.T, got []finished, wantMS ...int) {
	t.Helper()
	for i, ms := range wantMS {
		if want := time.Duration(ms) * time.Millisecond; got[i].err != nil || got[i].at != want {
			t.Errorf("job %d: done after %s (%v), want %s", i, got[i].at, got[i].err, want)
		}
	}
}

// What waits is merged into one forward, up to MaxBatch inputs and in order.
func TestMerging(t *testing.T) {
	inBubble(t, params(), func(t *testing.T, e *engine, start time.Time) {
		one := job{inputs: 1, tokens: 100}
		check(t, send(t.Context(), e, start, one, one, one, one, one, one, one), 12, 24, 24, 24, 24, 36, 36)
	})
	inBubble(t, params(), func(t *testing.T, e *engine, start time.Time) {
		// 3 and then 2 don't fit into one forward of 4; 6 runs alone.
		check(t, send(t.Context(), e, start, job{inputs: 1, tokens: 1}, job{inputs: 3, tokens: 1}, job{inputs: 2, tokens: 1}, job{inputs: 6, tokens: 2000}, job{inputs: 1, tokens: 1}),
			12, 24, 36, 58, 70)
	})
	inBubble(t, params(), func(t *testing.T, e *engine, start time.Time) {
		// The tokens of a merged forward are summed: 2 ms + 4·1000·10 µs.
		big := job{inputs: 1, tokens: 1000}
		check(t, send(t.Context(), e, start, big, big, big, big, big), 12, 54, 54, 54, 54)
	})
}

// Chats run on slots, each for its own time.
func TestSlots(t *testing.T) {
	inBubble(t, params(), func(t *testing.T, e *engine, start time.Time) {
		out := make([]finished, 4)
		var wg sync.WaitGroup
		for i := range out {
			wg.Go(func() {
				err := e.generate(t.Context(), &job{inputs: 1, tokens: 10}, i+1, progress{})
				out[i] = finished{time.Since(start), err}
			})
			synctest.Wait()
		}
		wg.Wait()
		check(t, out, 15, 18, 36, 42) // 12+3, 12+6, from 15 on 12+9, from 18 on 12+12
	})
}

// Out of memory comes at the size by construction, and what was taken once is
// never given back.
func TestMemory(t *testing.T) {
	inBubble(t, params(), func(t *testing.T, e *engine, start time.Time) {
		used := func() int64 {
			s, err := e.card.Sample()
			if err != nil || *s[0].MemUsedBytes+*s[0].MemFreeBytes+*s[0].MemReservedBytes != 6000 {
				t.Errorf("memory does not add up: %+v, %v", s, err)
			}
			return *s[0].MemUsedBytes
		}
		if got := used(); got != 1000 {
			t.Errorf("idle: %d", got)
		}
		for _, tt := range []struct {
			tokens int
			oom    bool
			used   int64
		}{{300, false, 1300}, {100, false, 1300}, {5000, false, 6000}, {5001, true, 6000}, {1, false, 6000}} {
			got := send(t.Context(), e, start, job{inputs: 1, tokens: tt.tokens})[0]
			var oom oomError
			if errors.As(got.err, &oom) != tt.oom || used() != tt.used {
				t.Errorf("%d tokens: %v, used %d, want %d", tt.tokens, got.err, used(), tt.used)
			}
		}
	})
}

// A merged forward that does not fit fails whole, and takes nothing.
func TestMergedOutOfMemory(t *testing.T) {
	inBubble(t, params(), func(t *testing.T, e *engine, start time.Time) {
		big := job{inputs: 1, tokens: 3000}
		got := send(t.Context(), e, start, job{inputs: 1, tokens: 1}, big, big)
		if got[0].err != nil || got[1].err == nil || got[2].err == nil {
			t.Errorf("%v", got)
		}
		if s, _ := e.card.Sample(); *s[0].MemUsedBytes != 1001 {
			t.Errorf("used %d", *s[0].MemUsedBytes)
		}
	})
}

// Chats on several slots share the memory.
func TestChatsShareMemory(t *testing.T) {
	inBubble(t, params(), func(t *testing.T, e *engine, _ time.Time) {
		var wg sync.WaitGroup
		errs := make([]error, 2)
		for i := range errs {
			wg.Go(func() { errs[i] = e.generate(t.Context(), &job{tokens: 2900}, 100, progress{}) })
			synctest.Wait()
		}
		wg.Wait()
		if errs[0] != nil || errs[1] == nil {
			t.Errorf("%v", errs)
		}
		if err := e.generate(t.Context(), &job{tokens: 4900}, 100, progress{}); err != nil {
			t.Errorf("alone: %v", err)
		}
	})
}

func TestUtilisation(t *testing.T) {
	inBubble(t, params(), func(t *testing.T, e *engine, start time.Time) {
		util := func() float64 {
			s, _ := e.card.Sample()
			return *s[0].UtilGPUPct
		}
		util()
		time.Sleep(10 * time.Millisecond)
		if got := util(); got != 0 {
			t.Errorf("idle: %g %%", got)
		}
		send(t.Context(), e, start, job{inputs: 1, tokens: 1})
		time.Sleep(36 * time.Millisecond)
		if got := util(); math.Abs(got-25) > 1e-9 {
			t.Errorf("12 ms of 48 ms: %g %%", got)
		}
	})
}

// Who leaves is not waited for, and the engine goes on.
func TestClientLeaves(t *testing.T) {
	inBubble(t, params(), func(t *testing.T, e *engine, start time.Time) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		if got := send(ctx, e, start, job{inputs: 1, tokens: 1})[0]; !errors.Is(got.err, context.DeadlineExceeded) || got.at != 5*time.Millisecond {
			t.Errorf("%+v", got)
		}
		check(t, send(t.Context(), e, start, job{inputs: 1, tokens: 1}), 24)
	})
}

// Work that the server's end cut short has no answer.
func TestEngineEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		e := newEngine(params(), NewCard(params()), 1)
		var wg sync.WaitGroup
		wg.Go(func() { e.run(ctx) })
		time.AfterFunc(5*time.Millisecond, cancel)
		if got := send(t.Context(), e, time.Now(), job{inputs: 1, tokens: 1})[0]; got.at != 5*time.Millisecond || !errors.Is(got.err, context.Canceled) {
			t.Errorf("%+v", got)
		}
		wg.Wait()
	})
}
