package dcgm_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"rung/runner"
	"rung/runner/gpu/dcgm"
	"rung/runner/sim"
	"rung/sinks/record"
	"rung/spec/plan"
)

// An exporter that is gone in the middle of a run ends the samples, with an event and
// its reason, and not the run.
func TestLostExporter(t *testing.T) {
	page, err := os.ReadFile("testdata/mig.txt")
	if err != nil {
		t.Fatal(err)
	}
	var gone atomic.Bool
	exporter := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if gone.Load() {
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write(page)
	}))
	defer exporter.Close()
	sampler, err := dcgm.Open(dcgm.Options{URL: exporter.URL, Devices: []string{"1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer sampler.Close()
	server, err := sim.Start(t.Context(), "127.0.0.1:0", sim.Config{Params: plan.DefaultSimulator(), Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	l := plan.Ladder{Name: "batch", Axis: plan.AxisBatch, Prompt: plan.Prompt{Name: "p"}, Passes: []plan.Pass{{Up: true, Order: []int{0, 1}}}, Reruns: 1}
	for i := range 2 {
		l.Rungs = append(l.Rungs, plan.Rung{Index: i, Value: float64(i + 1), Shape: plan.Shape{Batch: i + 1, InputTokens: 16, InFlight: 1}, Rounds: 1, Requests: 5})
	}
	cell := plan.Cell{Ladders: []plan.Ladder{l}}
	cfg := runner.Config{Cell: cell, Sampler: sampler, Plan: plan.Plan{Seed: 1, Cells: []plan.Cell{cell}, GPU: plan.GPU{Interval: plan.Duration(10 * time.Millisecond)},
		Target: plan.Target{API: plan.OpenAIEmbeddings, URL: server.URL(), HasURL: true, Model: "m", Timeout: plan.Timeout{Connect: plan.Duration(time.Second), Request: plan.Duration(time.Minute)}}}}
	p, err := runner.Prepare(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var mu sync.Mutex
	var lost []string
	samples, ended := 0, 0
	sum, err := p.Run(t.Context(), t.Context(), func(it record.Item) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case it.Sample != nil:
			samples++
		case it.Event != nil && it.Event.Kind == record.GPULost:
			lost = append(lost, it.Event.Reason)
		case it.Request != nil && it.Request.Phase == record.Measure && it.Request.Outcome == record.OK:
			ended++
			gone.Store(true)
		}
	})
	if err != nil || ended != 10 || samples == 0 {
		t.Errorf("%d requests, %d samples, %v", ended, samples, err)
	}
	if len(lost) != 1 || !strings.HasPrefix(lost[0], "the DCGM exporter: ") || sum.GPULost != lost[0] {
		t.Errorf("%q, %q", lost, sum.GPULost)
	}
}
