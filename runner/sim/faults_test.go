package sim

import (
	"errors"
	"math"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"rung/runner/memnet"
	"rung/runner/target"
	"rung/sinks/record"
	"rung/spec/plan"
)

// with is a model that answers at once and has faults.
func with(faults ...plan.Fault) plan.Simulator {
	p := quick()
	p.Faults = faults
	return p
}

// Each fault is what the client takes it for, of vectors and of a stream.
func TestFaultsOfVectors(t *testing.T) {
	for kind, want := range map[plan.FaultKind]record.Outcome{
		plan.FaultStreamError: record.BadResponse, plan.FaultTruncated: record.BadResponse, plan.FaultHang: record.Timeout,
		plan.FaultSlowFirst: record.OK, plan.FaultReset: record.Reset, plan.FaultResetMid: record.Reset, plan.FaultStatus: record.ServerError,
		plan.FaultEmptyVectors: record.BadResponse, plan.FaultOneVector: record.BadResponse, plan.FaultZeroVector: record.BadResponse,
		plan.FaultWrongDims: record.BadResponse, plan.FaultNoUsage: record.OK, plan.FaultRetryAfter: record.RateLimited, plan.FaultDie: record.Reset,
	} {
		for _, api := range []plan.API{plan.OpenAIEmbeddings, plan.TEIEmbed} {
			bubble(t, api, with(plan.Fault{Kind: kind}), func(t *testing.T, b *bench) {
				x := b.embed(1, 3, 10)
				b.want(x, want)
				e := b.entries()
				if len(e) != 1 || e[0].Fault != string(kind) || (e[0].Status == 0) != (want == record.Reset) {
					t.Errorf("%s: the log says %+v", kind, e)
				}
			})
		}
	}
}

func TestFaultsOfStreams(t *testing.T) {
	for kind, want := range map[plan.FaultKind]record.Outcome{
		plan.FaultStreamError: record.BadResponse, plan.FaultTruncated: record.BadResponse, plan.FaultHang: record.Timeout,
		plan.FaultSlowFirst: record.OK, plan.FaultReset: record.Reset, plan.FaultResetMid: record.Reset, plan.FaultStatus: record.ServerError,
		plan.FaultNoUsage: record.OK, plan.FaultRetryAfter: record.RateLimited, plan.FaultDie: record.Reset, plan.FaultZeroVector: record.OK,
	} {
		for _, stream := range []bool{true, false} {
			bubble(t, plan.OpenAIChat, with(plan.Fault{Kind: kind}), func(t *testing.T, b *bench) {
				x := b.say("a", target.Options{OutputTokens: 8, Stream: stream})
				b.want(x, want)
				half := stream && (kind == plan.FaultTruncated || kind == plan.FaultResetMid)
				if half != (x.a.Chunks != nil && *x.a.Chunks == 4) {
					t.Errorf("%s: %+v", kind, x.a)
				}
				if e := b.entries(); len(e) != 1 || half && e[0].OutputTokens != 4 {
					t.Errorf("%s: the log says %+v", kind, e)
				}
			})
		}
	}
}

// What the faults bring beside the outcome.
func TestFaultDetails(t *testing.T) {
	second := plan.Duration(time.Second)
	for _, tt := range []struct {
		fault  plan.Fault
		stream bool
		good   func(x exchanged) bool
	}{
		{plan.Fault{Kind: plan.FaultHang}, true, func(x exchanged) bool {
			return x.Stage == record.StageFirstByte && x.Status == 200 && x.took() == time.Minute
		}},
		{plan.Fault{Kind: plan.FaultStreamError, Body: "CUDA out of memory"}, true, func(x exchanged) bool {
			return x.a.Outcome == record.OOM && x.a.FirstToken.IsZero() && strings.HasSuffix(string(x.Body), "data: [DONE]\n\n")
		}},
		{plan.Fault{Kind: plan.FaultTruncated}, true, func(x exchanged) bool {
			return x.Err == nil && !strings.Contains(string(x.Body), "DONE")
		}},
		{plan.Fault{Kind: plan.FaultSlowFirst, After: 3 * second}, true, func(x exchanged) bool { return x.took() == 3*time.Second }},
		{plan.Fault{Kind: plan.FaultSlowFirst}, false, func(x exchanged) bool { return x.took() == time.Second }},
		{plan.Fault{Kind: plan.FaultRetryAfter, After: 2 * second}, false, func(x exchanged) bool {
			return x.Status == 429 && *x.a.RetryAfterS == 2
		}},
		{plan.Fault{Kind: plan.FaultStatus, Status: 500, Body: "input is too large to process. increase the physical batch size"}, false, func(x exchanged) bool {
			return x.a.Outcome == record.TooLong && x.a.Limit == record.LimitPhysical && strings.HasPrefix(x.Header.Get("Content-Type"), "text/plain")
		}},
		{plan.Fault{Kind: plan.FaultStatus, Status: 503, Body: `{"error":"busy"}`}, true, func(x exchanged) bool {
			return x.a.Outcome == record.Unavailable && x.Header.Get("Content-Type") == "application/json"
		}},
		{plan.Fault{Kind: plan.FaultNoUsage}, true, func(x exchanged) bool {
			return x.a.UsageSource == record.NoUsage && x.a.OutputTokens == nil && *x.a.Chunks == 8
		}},
		{plan.Fault{Kind: plan.FaultResetMid}, true, func(x exchanged) bool { return x.Stage == record.StageBetween && x.Status == 200 }},
		{plan.Fault{Kind: plan.FaultReset}, true, func(x exchanged) bool { return x.Stage == record.StageFirstByte && x.Status == 0 }},
	} {
		bubble(t, plan.OpenAICompletions, with(tt.fault), func(t *testing.T, b *bench) {
			if x := b.complete(1, 10, 8, tt.stream); !tt.good(x) {
				t.Errorf("%+v: %+v %s", tt.fault, x.a, x.Body)
			}
		})
	}
}

// Which requests a fault falls on: the same ones in every run.
func TestFaultsChosen(t *testing.T) {
	hit := func(t *testing.T, p plan.Simulator, n int) (out []int) {
		bubble(t, plan.OpenAIEmbeddings, p, func(_ *testing.T, b *bench) {
			for i := range n {
				if x := b.embed(1+1000*i, 1+i%3, 10); x.a.Outcome != record.OK {
					out = append(out, i+1)
				}
			}
		})
		return out
	}
	f := plan.Fault{Kind: plan.FaultStatus}
	for _, tt := range []struct {
		change func(f *plan.Fault)
		want   []int
	}{
		{func(f *plan.Fault) { f.Every = 4 }, []int{4, 8, 12}},
		{func(f *plan.Fault) { f.Every, f.From = 4, 6 }, []int{9}},
		{func(f *plan.Fault) { f.From = 11 }, []int{11, 12}},
		{func(f *plan.Fault) { f.Times, f.From = 2, 3 }, []int{3, 4}},
		{func(f *plan.Fault) { f.AtInputs = 3 }, []int{3, 6, 9, 12}},
		{func(f *plan.Fault) { f.AtTokens, f.Every = 20, 3 }, []int{3, 6, 9, 12}},
		{func(f *plan.Fault) { f.Kind = plan.FaultCloseIdle }, nil},
	} {
		g := f
		tt.change(&g)
		if got := hit(t, with(g), 12); !slices.Equal(got, tt.want) {
			t.Errorf("%+v: %v", g, got)
		}
	}
	f.Share = 0.1
	first := hit(t, with(f), 1000)
	if again := hit(t, with(f), 1000); !slices.Equal(first, again) || math.Abs(float64(len(first))-100) > 30 {
		t.Errorf("a share of 0.1: %d of 1000, the same again: %v", len(first), slices.Equal(first, again))
	}
	// Two faults draw by themselves, and the first that fits counts.
	both := hit(t, with(f, f), 1000)
	if math.Abs(float64(len(both))-190) > 40 {
		t.Errorf("two shares of 0.1: %d of 1000", len(both))
	}
}

// A server that died is refused until it is started again, with the memory of a fresh
// one and without the fault.
func TestDie(t *testing.T) {
	bubble(t, plan.OpenAIEmbeddings, with(plan.Fault{Kind: plan.FaultDie, From: 3}), func(t *testing.T, b *bench) {
		used := func() int64 {
			s, _ := b.s.Card().Sample()
			return *s[0].MemUsedBytes
		}
		for range 2 {
			b.want(b.embed(1, 1, 100), record.OK)
		}
		if used() != 1100 || !b.s.Alive() {
			t.Errorf("before: %d bytes", used())
		}
		b.want(b.embed(1, 1, 100), record.Reset)
		for range 3 {
			b.want(b.embed(1, 1, 100), record.Refused)
		}
		if used() != 0 || b.s.Alive() {
			t.Errorf("dead: %d bytes", used())
		}
		b.restart()
		if used() != 1000 || !b.s.Alive() {
			t.Errorf("again: %d bytes", used())
		}
		b.want(b.embed(1, 1, 100), record.OK)
	})
}

// A restart breaks what is under way, and a server that was given a listener alone
// has none.
func TestRestart(t *testing.T) {
	bubble(t, plan.OpenAIEmbeddings, params(), func(t *testing.T, b *bench) {
		end := begin(1, func(int) exchanged { return b.embed(1, 1, 100) })
		b.restart()
		b.want(end()[0], record.Reset)
		b.want(b.embed(1, 1, 100), record.OK)
	})
	synctest.Test(t, func(t *testing.T) {
		n := &memnet.Net{}
		ln, _ := n.Listen(t.Context())
		s := Serve(t.Context(), ln, Config{Params: quick()})
		if err := s.Restart(t.Context()); !errors.Is(err, errNoRestart) {
			t.Error(err)
		}
		if err := s.Close(); err != nil || s.Alive() {
			t.Error(err)
		}
	})
}

// The same over real sockets, where the address stays.
func TestRestartOnLoopback(t *testing.T) {
	s := start(t, with(plan.Fault{Kind: plan.FaultDie, From: 2}), nil)
	send := func() error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/v1/embeddings", strings.NewReader(`{"model":"m","input":"a"}`))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	first, dies, refused := send(), send(), send()
	if first != nil || dies == nil || !errors.Is(refused, syscall.ECONNREFUSED) {
		t.Errorf("%v, %v, %v", first, dies, refused)
	}
	url := s.URL()
	if err := s.Restart(t.Context()); err != nil || s.URL() != url {
		t.Fatal(err)
	}
	if err := send(); err != nil {
		t.Error(err)
	}
}

// A connection that lay idle for too long meets a closed one.
func TestCloseIdle(t *testing.T) {
	bubble(t, plan.OpenAIEmbeddings, with(plan.Fault{Kind: plan.FaultCloseIdle, After: plan.Duration(2 * time.Second)}), func(t *testing.T, b *bench) {
		if x := b.embed(1, 1, 10); x.Reused {
			t.Error("the first is on a used connection")
		}
		time.Sleep(1900 * time.Millisecond)
		if x := b.embed(1, 1, 10); !x.Reused {
			t.Error("the connection was closed too soon")
		}
		time.Sleep(2100 * time.Millisecond)
		if x := b.embed(1, 1, 10); x.Reused {
			t.Error("the connection was not closed")
		}
	})
}

// Another process slows all in its time, and holds memory.
func TestInterference(t *testing.T) {
	p := params()
	p.Faults = []plan.Fault{{Kind: plan.FaultInterference, At: plan.Duration(time.Second), For: plan.Duration(time.Second), Factor: 1.5, Memory: 3000}}
	bubble(t, plan.OpenAICompletions, p, func(t *testing.T, b *bench) {
		b.span(b.complete(1, 10, 6, true), 30*time.Millisecond)
		time.Sleep(time.Second)
		b.span(b.complete(1, 10, 6, true), 45*time.Millisecond)
		if s, _ := b.s.Card().Sample(); *s[0].MemUsedBytes != 4016 {
			t.Errorf("used %d", *s[0].MemUsedBytes)
		}
		b.want(b.complete(1, 2000, 10, true), record.OOM)
		time.Sleep(time.Second)
		b.want(b.complete(1, 2000, 10, true), record.OK)
		b.span(b.complete(1, 10, 6, true), 30*time.Millisecond)
	})
}
