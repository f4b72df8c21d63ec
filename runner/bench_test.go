package runner

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"rung/runner/memnet"
	"rung/runner/sim"
	"rung/sinks/record"
	"rung/spec/plan"
)

// asServer makes this binary a server of its own process, for the benchmarks: one that
// answers at once ("instant"), or the simulated one.
const asServer = "RUNG_BENCH_SERVER"

func TestMain(m *testing.M) {
	switch os.Getenv(asServer) {
	case "":
		os.Exit(m.Run())
	case "instant":
		beInstant()
	default:
		beSimulated()
	}
}

func announce(ln net.Listener) { fmt.Println("http://" + ln.Addr().String()) }

func beInstant() {
	ln, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // the process ends with the benchmark
	if err != nil {
		panic(err)
	}
	announce(ln)
	_ = http.Serve(ln, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:gosec // loopback, for seconds
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
			return
		}
		fmt.Fprint(w, `{"data":[{"index":0,"embedding":[1,0.5]}],"usage":{"prompt_tokens":16}}`)
	}))
}

// beSimulated streams a token each 20 ms, and logs each.
func beSimulated() {
	log, err := os.Create(os.Getenv(asServer))
	if err != nil {
		panic(err)
	}
	p := plan.DefaultSimulator()
	p.Slots, p.PerOutputToken, p.LogChunks, p.Noise = 64, plan.Duration(20*time.Millisecond), true, 0.1
	s, err := sim.Start(context.Background(), "127.0.0.1:0", sim.Config{Params: p, Model: "m", Log: log})
	if err != nil {
		panic(err)
	}
	fmt.Println(s.URL())
	_, _ = io.Copy(io.Discard, os.Stdin) // until the benchmark ends
	_ = s.Close()
}

// spawn starts a server in another process and gives its address.
func spawn(b *testing.B, kind string) string {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), asServer+"="+kind)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(address)
}

const (
	benchRate   = 1000
	benchLength = 20 * time.Second
)

// BenchmarkLateness sends 1,000 requests a second for 20 s to a server of another
// process on loopback, by rung and by vegeta (in bin/, where make bench puts it), one
// after the other: how late each was sent.
func BenchmarkLateness(b *testing.B) {
	address := spawn(b, "instant")
	b.Run("rung", func(b *testing.B) {
		for b.Loop() {
			report(b, rungLateness(b, address))
		}
	})
	b.Run("vegeta", func(b *testing.B) {
		bin, err := filepath.Abs("../bin/vegeta")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := os.Stat(bin); err != nil {
			b.Skip("bin/vegeta is not there: make bench builds it")
		}
		for b.Loop() {
			report(b, vegetaLateness(b, bin, address))
		}
	})
}

func report(b *testing.B, late []float64) {
	b.Helper()
	slices.Sort(late)
	b.ReportMetric(float64(len(late)), "requests")
	b.ReportMetric(1e6*record.Quantile(late, 0.5), "p50-late-µs")
	b.ReportMetric(1e6*record.Quantile(late, 0.99), "p99-late-µs")
	b.ReportMetric(0, "ns/op")
}

func rungLateness(b *testing.B, address string) []float64 {
	b.Helper()
	cfg := config(memnet.Listen(), rateLadder(benchLength, 256, benchRate))
	cfg.Dial, cfg.Plan.Target.URL = nil, address
	var late []float64
	for _, r := range benchRun(b, cfg) {
		if r.Phase == record.Measure && r.Sent() {
			late = append(late, r.SentTS-r.DueTS)
		}
	}
	return late
}

func benchRun(b *testing.B, cfg Config) []record.Request {
	b.Helper()
	p, err := Prepare(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	out := &tape{}
	if _, err := p.Run(b.Context(), b.Context(), out.put); err != nil {
		b.Fatal(err)
	}
	return out.rows()
}

// vegetaLateness is against vegeta's own schedule, n/rate after its first send; what
// all sends have in common can't be seen, and is taken off.
func vegetaLateness(b *testing.B, bin, address string) []float64 {
	b.Helper()
	dir := b.TempDir()
	body := filepath.Join(dir, "body")
	if err := os.WriteFile(body, []byte(`{"model":"m","input":[[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]]}`), 0o600); err != nil {
		b.Fatal(err)
	}
	script := fmt.Sprintf("echo 'POST %s/v1/embeddings' | %s attack -rate=%d -duration=%s -body=%s | %s encode --to json", address, bin, benchRate, benchLength, body, bin)
	out, err := exec.CommandContext(b.Context(), "sh", "-c", script).Output()
	if err != nil {
		b.Fatal(err)
	}
	var late []float64
	least := math.Inf(1)
	for line := range bytes.Lines(out) {
		var hit struct {
			Seq  int       `json:"seq"`
			Time time.Time `json:"timestamp"`
		}
		if err := json.Unmarshal(line, &hit); err != nil {
			b.Fatal(err)
		}
		l := float64(hit.Time.UnixNano())/1e9 - float64(hit.Seq)/benchRate
		late, least = append(late, l), min(least, l)
	}
	for i := range late {
		late[i] -= least
	}
	return late
}

// BenchmarkStreams reads 64 streams at once from the simulated server in another
// process, and holds the time to first token and the gaps between chunks against the
// server's own log.
func BenchmarkStreams(b *testing.B) {
	log := filepath.Join(b.TempDir(), "log")
	address := spawn(b, log)
	for b.Loop() {
		l := loadLadder(256, 64)
		l.Prompt.Exact, l.Prompt.Stream = true, true
		l.Rungs[0].Shape.InputTokens, l.Rungs[0].Shape.OutputTokens = 64, 32
		cfg := config(memnet.Listen(), l)
		cfg.Dial, cfg.Plan.Target.URL, cfg.Plan.Target.API = nil, address, plan.OpenAIChat
		cfg.Plan.Target.Timeout.FirstByte, cfg.Plan.Target.Timeout.BetweenBytes = plan.Duration(time.Minute), plan.Duration(time.Minute)
		first, gaps := streamErrors(b, benchRun(b, cfg), log)
		for name, errs := range map[string][]float64{"ttft": first, "gap": gaps} {
			slices.Sort(errs)
			b.ReportMetric(1e6*record.Quantile(errs, 0.5), "p50-"+name+"-off-µs")
			b.ReportMetric(1e6*record.Quantile(errs, 0.99), "p99-"+name+"-off-µs")
		}
		b.ReportMetric(float64(len(first)), "streams")
		b.ReportMetric(0, "ns/op")
	}
}

// streamErrors are the differences from the server's log, in seconds.
func streamErrors(b *testing.B, rows []record.Request, log string) (first, gaps []float64) {
	b.Helper()
	raw, err := os.ReadFile(log)
	if err != nil {
		b.Fatal(err)
	}
	entries := map[string]sim.Entry{}
	for line := range bytes.Lines(raw) {
		var e sim.Entry
		if err := json.Unmarshal(line, &e); err != nil {
			b.Fatal(err)
		}
		entries[e.BodySHA256] = e
	}
	for _, r := range rows {
		e, ok := entries[r.BodySHA256]
		if r.Phase != record.Measure || r.FirstTokenTS == nil || !ok || len(e.ChunksS) == 0 {
			continue
		}
		first = append(first, math.Abs((*r.FirstTokenTS-r.SentTS)-(e.ChunksS[0]-e.ReceivedS)))
		for i, g := range r.ChunkGapsS {
			if i+1 < len(e.ChunksS) {
				gaps = append(gaps, math.Abs(g-(e.ChunksS[i+1]-e.ChunksS[i])))
			}
		}
	}
	return first, gaps
}
