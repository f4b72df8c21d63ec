package runner

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"rung/runner/memnet"
	"rung/sinks/record"
	"rung/spec/plan"
)

// seeds is how many are tried.
func seeds() int64 {
	if raced {
		return 1
	}
	return 10
}

// loads are the ladders that people run: doubling up to 64 with ten requests for each
// in flight, and the short one of hand-made tests.
func loads() map[string]plan.Ladder {
	long := loadLadder(0, 1, 2, 4, 8, 16, 32, 64)
	for i := range long.Rungs {
		long.Rungs[i].Requests = max(40, 10*long.Rungs[i].Shape.InFlight)
	}
	return map[string]plan.Ladder{"1..64": long, "1 2 4 8 x 40": loadLadder(40, 1, 2, 4, 8)}
}

// A healthy server's rounds are never refused: whatever the spread of its times, and
// with one in eight requests failing where the spec allows that.
func TestHealthyIsNeverRefused(t *testing.T) {
	for _, cv := range []float64{0.1, 0.5, 1} {
		for _, failing := range []float64{0, 0.12} {
			for name, l := range loads() {
				t.Run(fmt.Sprintf("%s, cv %g, %g failing", name, cv, failing), func(t *testing.T) {
					rounds := 0
					for seed := range seeds() {
						bubble(t, func(t *testing.T) {
							params := plan.DefaultSimulator()
							params.Noise = cv
							if failing > 0 {
								params.Faults = []plan.Fault{{Kind: plan.FaultStatus, Share: failing, From: 20}}
							}
							n, _ := startSim(t, params, seed)
							l.Stop = plan.Stop{FailureRatio: 0.5}
							cfg := config(memnet.Listen(), l)
							cfg.Dial, cfg.Plan.Seed = n.Dial, seed
							for _, end := range walkAll(t, cfg).events(record.RoundEnd) {
								rounds++
								if end.Verdict != record.Accepted {
									t.Errorf("seed %d, rung %g: %s", seed, end.Value, end.Reason)
								}
							}
						})
					}
					if rounds != int(seeds())*len(l.Rungs) {
						t.Errorf("%d rounds", rounds)
					}
				})
			}
		}
	}
}

// halfOpen lets a client have half as many connections as it was asked for in flight:
// what waits for one was not sent.
type halfOpen struct {
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	places chan struct{}
}

type placed struct {
	net.Conn
	leave func()
}

func (p placed) Close() error {
	p.leave()
	return p.Conn.Close()
}

func (h halfOpen) open(ctx context.Context, network, address string) (net.Conn, error) {
	select {
	case h.places <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c, err := h.dial(ctx, network, address)
	if err != nil {
		<-h.places
		return nil, err
	}
	left := make(chan struct{}, 1)
	return placed{c, func() {
		select {
		case left <- struct{}{}:
			<-h.places
		default:
		}
	}}, nil
}

// A client that is held to half its connections is caught in every round, whatever the
// spread.
func TestHeldClientIsCaught(t *testing.T) {
	for _, cv := range []float64{0.1, 0.5, 1} {
		for _, asked := range []int{2, 4, 8, 16, 64} {
			for seed := range seeds() {
				bubble(t, func(t *testing.T) {
					params := plan.DefaultSimulator()
					params.Noise = cv
					n, _ := startSim(t, params, seed)
					l := loadLadder(max(40, 10*asked), asked)
					l.Reruns = 0
					cfg := config(memnet.Listen(), l)
					cfg.Dial, cfg.Plan.Seed = halfOpen{n.Dial, make(chan struct{}, asked/2)}.open, seed
					cfg.Plan.Target.Timeout.Connect = plan.Duration(time.Hour)
					ends := walkAll(t, cfg).events(record.RoundEnd)
					if len(ends) != 1 || !strings.HasPrefix(ends[0].Reason, "client_limited") {
						t.Errorf("cv %g, %d asked, seed %d: %+v", cv, asked, seed, ends)
					}
				})
			}
		}
	}
}
