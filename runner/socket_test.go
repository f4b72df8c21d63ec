package runner

import (
	"context"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"rung/runner/sim"
	"rung/sinks/record"
	"rung/spec/plan"
)

// onSockets is a plan for a server on a real socket, with answers of a few
// milliseconds. Rounds of one request say nothing of the mean in flight, which a
// busy machine can spoil.
func onSockets(url string) Config {
	cfg := config(nil, batchLadder("batch", 2, 6, 1, 1, 2, 4))
	cfg.Dial, cfg.Plan.Target.URL = nil, url
	cfg.Plan.GPU.Interval = plan.Duration(5 * time.Millisecond)
	for i := range cfg.Cell.Ladders {
		cfg.Cell.Ladders[i].Cooldown = 0
	}
	return cfg
}

// A whole run over real sockets: everything is a row, connections are used again,
// the card is sampled meanwhile, and no goroutine is left.
func TestOnSockets(t *testing.T) {
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	params := plan.DefaultSimulator()
	params.Noise = 0
	s, err := sim.Start(ctx, "127.0.0.1:0", sim.Config{Params: params, Model: "m"})
	if err != nil {
		t.Fatal(err)
	}
	cfg := onSockets(s.URL())
	cfg.Sampler = s.Card()
	p, err := Prepare(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	out := &tape{}
	if _, err := p.Run(ctx, ctx, out.put); err != nil {
		t.Fatal(err)
	}
	p.Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	rows := out.rows(phase(record.Measure))
	if len(rows) != 36 || len(out.samples()) < 6 {
		t.Errorf("%d rows, %d samples", len(rows), len(out.samples()))
	}
	reused := 0
	for _, r := range rows {
		if r.Outcome != record.OK || !r.Counted || r.LatencyS() < 0.012 {
			t.Errorf("%+v", r)
		}
		if r.ConnReused {
			reused++
		}
	}
	if reused < len(rows)/2 { // a machine that stalls for seconds loses an idle one now and then
		t.Errorf("%d of %d requests on a connection that was there", reused, len(rows))
	}
	for range 1000 { // goroutines of net/http end a little later than their connections
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	buf := make([]byte, 1<<20)
	t.Errorf("%d goroutines, before the run %d\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
}

// A real refused connection is what the pipes of the other tests say it is.
func TestUnreachableOnSockets(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	ln, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // a port that is free
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + ln.Addr().String()
	ln.Close()
	if _, err := Prepare(ctx, onSockets(url)); err == nil || !strings.Contains(err.Error(), "can't be reached: "+url) || !strings.Contains(err.Error(), "refused") {
		t.Error(err)
	}
}
