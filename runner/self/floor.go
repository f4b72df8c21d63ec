package self

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"rung/runner/target"
	"rung/sinks/record"
	"rung/spec/plan"
)

// Load is what the floor is measured at.
type Load struct {
	InFlight int
	Body     []byte // of a request
	Answer   []byte // of each answer, as the real server's
	Stream   bool
	Length   time.Duration
}

// Floor sends as fast as it can, with the load's number of requests in flight, to a
// server on loopback that answers at once with bytes it has ready. Both share this
// machine, so that a real server on another one may be answered faster; slower than
// this the client need never be. It costs Length.
func Floor(ctx context.Context, l Load) (record.Floor, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return record.Floor{}, fmt.Errorf("the self-check's own server: %w", err)
	}
	server := &http.Server{Handler: answerer(l.Answer), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(ln) }() // ends with Close
	defer server.Close()                 //nolint:errcheck // nothing depends on how it ends
	t := plan.Target{API: plan.OpenAIEmbeddings, URL: "http://" + ln.Addr().String(), Model: "floor",
		Timeout: plan.Timeout{Connect: plan.Duration(5 * time.Second), Request: plan.Duration(30 * time.Second)}}
	client, err := target.New(t, nil, plan.Secrets{}, l.InFlight)
	if err != nil {
		return record.Floor{}, err
	}
	defer client.Close()
	before, begin := Now(), time.Now()
	spans, failed := l.run(ctx, client)
	took := time.Since(begin)
	if ctx.Err() != nil {
		return record.Floor{}, ctx.Err()
	}
	if failed != nil {
		return record.Floor{}, fmt.Errorf("the self-check against a server of this process failed: %w", failed)
	}
	if len(spans) == 0 {
		return record.Floor{}, errors.New("the self-check against a server of this process got no answer")
	}
	slices.Sort(spans)
	return record.Floor{
		InFlight: l.InFlight, Requests: len(spans), RatePerS: float64(len(spans)) / took.Seconds(),
		P50S: record.Quantile(spans, 0.5), P95S: record.Quantile(spans, 0.95), P99S: record.Quantile(spans, 0.99),
		CPUPct: 100 * CPUShare(before, Now(), took),
	}, nil
}

// run gives the spans of all requests, in seconds, and the first failure.
func (l Load) run(ctx context.Context, client *target.Client) (spans []float64, failed error) {
	var mu sync.Mutex
	var over atomic.Bool
	defer time.AfterFunc(l.Length, func() { over.Store(true) }).Stop()
	var senders sync.WaitGroup
	for range l.InFlight {
		senders.Go(func() {
			var own []float64
			var err error
			for !over.Load() && err == nil && ctx.Err() == nil {
				r := client.Send(ctx, l.Body, 1<<30, l.Stream)
				err = r.Err
				own = append(own, r.Done.Sub(r.Sent).Seconds())
			}
			mu.Lock()
			defer mu.Unlock()
			spans = append(spans, own...)
			if err != nil && failed == nil {
				failed = err
			}
		})
	}
	senders.Wait()
	return spans, failed
}

func answerer(answer []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer)
	}
}
