//go:build linux

package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"rung/sinks/record"
)

// soakSpec is a steady rate against a server that fails in many ways.
const soakSpec = `
experiment "crash" {
  seed = 9
}
target {
  api   = "openai-embeddings"
  url   = "%%s"
  model = "m"
  timeout {
    request = "2s"
  }
}
simulator {
  overhead = "2ms"
  floor    = "5ms"
  fault {
    kind  = "hang"
    every = 997
  }
  fault {
    kind  = "reset_mid"
    every = 211
  }
  fault {
    kind  = "truncated"
    every = 307
  }
  fault {
    kind  = "slow_first"
    every = 101
    after = "300ms"
  }
  fault {
    kind  = "wrong_dims"
    every = 401
  }
  fault {
    kind   = "status"
    every  = 97
    status = 500
    body   = "internal error"
  }
}
gpu {
  source = "none"
}
prompt "p" {
  tokens = 64
}
ladder "rate" {
  rungs    = [40]
  duration = "%s"
  rounds   = %d
  reruns   = 0
  stop {
    outcomes      = ["oom"]
    failure_ratio = 1
  }
}
`

// soakRound is how long a round of the soak is.
const soakRound = 10 * time.Second

// grip is what a process holds.
type grip struct {
	rss int64 // bytes
	fds int
}

func (g grip) String() string {
	return fmt.Sprintf("%5.1f MiB, %3d descriptors", float64(g.rss)/(1<<20), g.fds)
}

func gripOf(pid int) (g grip, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return g, err
	}
	pages, err := strconv.ParseInt(strings.Fields(string(b))[1], 10, 64)
	if err != nil {
		return g, err
	}
	fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	return grip{pages * int64(os.Getpagesize()), len(fds)}, err
}

// A run of an hour at a steady rate, with faults, holds no more at its end than in its
// midst, and has a row for each request that the server received. RUNG_SOAK says how long.
func TestSoak(t *testing.T) {
	length, err := time.ParseDuration(os.Getenv("RUNG_SOAK"))
	if err != nil {
		t.Skip("RUNG_SOAK says for how long: make soak")
	}
	rounds := max(2, int(length/soakRound))
	c := &crash{t: t, dir: t.TempDir(), text: fmt.Sprintf(soakSpec, soakRound, rounds)}
	if err := c.serve(); err != nil {
		t.Fatal(err)
	}
	defer c.end()
	cmd := c.rung("run", c.spec, "--no-self-check", "--out", c.dir)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	held := []grip{}
	for tick := time.NewTicker(500 * time.Millisecond); len(done) == 0; <-tick.C {
		if g, err := gripOf(cmd.Process.Pid); err == nil && g.rss > 0 {
			held = append(held, g)
		}
	}
	if err := <-done; err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	c.account(held)
}

// account prints the soak's table and holds it against what must be.
func (c *crash) account(held []grip) {
	t := c.t
	run, err := c.open()
	if err != nil {
		t.Fatal(err)
	}
	answered, err := c.answered()
	if err != nil {
		t.Fatal(err)
	}
	received, err := c.received()
	if err != nil {
		t.Fatal(err)
	}
	outcomes, sent := map[record.Outcome]int{}, 0
	have := map[string]int{}
	for _, q := range run.Requests {
		outcomes[q.Outcome]++
		if q.Sent() {
			sent++
			have[q.BodySHA256]++
		}
	}
	for _, sum := range received {
		if have[sum]--; have[sum] < 0 {
			t.Errorf("the server received a request that no row has: %s", sum)
		}
	}
	begin, middle, end := typical(held[len(held)/10:len(held)/4+1]), typical(held[len(held)*45/100:len(held)*55/100+1]), typical(held[len(held)*9/10:])
	t.Logf("requests: %d sent, %d received by the server, %d answered, %d rows: %v", sent, len(received), len(answered), len(run.Requests), outcomes)
	t.Logf("held: at the start %s", begin)
	t.Logf("      in the midst %s", middle)
	t.Logf("      at the end   %s", end)
	if len(received) != sent {
		t.Errorf("%d requests were sent and %d received", sent, len(received))
	}
	if end.fds > middle.fds+8 || float64(end.rss) > 1.25*float64(middle.rss)+16<<20 {
		t.Error("it holds more at its end than in its midst")
	}
}

// typical is the median of what was held in a while.
func typical(held []grip) grip {
	var rss []int64
	var fds []int
	for _, g := range held {
		rss, fds = append(rss, g.rss), append(fds, g.fds)
	}
	slices.Sort(rss)
	slices.Sort(fds)
	return grip{rss[len(rss)/2], fds[len(fds)/2]}
}
