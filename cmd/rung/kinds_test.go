package main

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"rung/results"
)

// kind is a kind of server that is bound by what its model says, and by nothing else.
type kind struct {
	name string
	want []string // names that the report must give
	may  []string // names that are true of the model too
	// open says that the cause may remain undetermined: there are two at once.
	open bool
	held int // connections that the client has; 0: as many as it likes
	spec string
}

// The names that a report can give to what it found.
const (
	preallocated  = "pre-allocated"
	fragmentation = results.ShapeFromRound
	cliff         = results.ShapeSlow
	queueLimit    = "429 limit"
	interference  = "interference"
)

// nameAll lists all, for the columns of the table.
var nameAll = []string{results.ByCompute, results.ByQueueing, results.ByPaging, results.ByHost, results.ByBandwidth, results.ByThrottling,
	preallocated, fragmentation, cliff, queueLimit, results.ByClient, interference, results.Undetermined}

// named are the names that a report gives.
func named(rep *results.Report) []string {
	l := rep.Ladders[0]
	var out []string
	add := func(name string, is bool) {
		if is {
			out = append(out, name)
		}
	}
	add(l.Bottleneck.Verdict, true)
	add(preallocated, rep.Memory.Preallocated)
	add(interference, rep.Baseline.Noisy)
	if s := l.Shape; s != nil {
		add(s.Kind, s.Kind == fragmentation || s.Kind == cliff)
		for _, r := range l.Rungs {
			add(r.Diagnosis.Verdict, s.Kind == cliff && r.Value == s.Value && !slices.Contains(out, r.Diagnosis.Verdict))
		}
	}
	if e := l.Edge; e != nil {
		add(queueLimit, slices.ContainsFunc(e.Settings, func(s string) bool { return strings.HasPrefix(s, "overload") }))
	}
	return out
}

// kindHead has a short baseline, and looks at server and card often.
const kindHead = `
experiment "kind" {
  seed = var.seed
}
variable "seed" { type = number }
gpu { interval = "50ms" }
metrics { interval = "100ms" }
baseline {
  idle     = "1s"
  warmup   = 2
  requests = 60
}
`

const kindEmbeds = kindHead + `
target {
  api   = "openai-embeddings"
  model = "m"
}
prompt "p" { tokens = 64 }
`

const kindChats = kindHead + `
target {
  api   = "openai-chat"
  model = "m"
}
prompt "p" {
  tokens        = 16
  output_tokens = 16
}
`

// kinds are twelve with one cause, and four with two. An input of 64 tokens is worth
// 512 of the default model's.
func kinds() []kind {
	embeds := func(simulator, rungs string) string {
		return kindEmbeds + "simulator {\n  per_token = \"32us\"\n  memory_per_token = \"2MiB\"\n" + simulator + "\n}\n" +
			fmt.Sprintf("ladder \"batch\" {\n  rungs = [%s]\n  rounds = 20\n  requests = 1\n  cooldown = \"200ms\"\n}\n", rungs)
	}
	chats := func(simulator string, requests int) string {
		return kindChats + "simulator {\n  per_output_token = \"10ms\"\n  tokens_per_chunk = 4\n" + simulator + "\n}\n" +
			fmt.Sprintf("ladder \"concurrency\" {\n  rungs = [1, 2, 4, 8]\n  rounds = 1\n  requests = %d\n  reruns = 0\n  cooldown = \"200ms\"\n}\n", requests)
	}
	const pool = "  memory_total = \"8MiB\"\n  memory_idle = \"1MiB\"\n  preallocate = 0.5\n  memory_per_token = \"24KiB\"\n  per_token = \"1ms\"" // 128 tokens: four chats
	return []kind{
		{name: "compute", want: []string{results.ByCompute}, spec: embeds("", "1, 2, 4, 8, 16, 32")},
		{name: "queueing", want: []string{results.ByQueueing}, spec: chats("slots = 2", 24)},
		{name: "paging", want: []string{results.ByPaging, preallocated}, may: []string{cliff}, spec: chats("slots = 64\n"+pool, 64)},
		{name: "host", want: []string{results.ByHost}, spec: chats("slots = 64\nbound = \"host\"", 100)},
		{name: "bandwidth", want: []string{results.ByBandwidth}, spec: chats("slots = 64\nbound = \"bandwidth\"", 24)},
		{name: "throttled", want: []string{results.ByThrottling}, spec: chats("slots = 64\nthrottle_share = 0.3", 24)},
		{name: "pre-allocated", want: []string{preallocated, results.Undetermined}, spec: chats("slots = 64\npreallocate = 0.9", 24)},
		{name: "fragmentation", want: []string{fragmentation, results.ByCompute}, spec: embeds("fragment_after = 12\nfragment_tokens = 2048\nfragment_step = \"20GiB\"", "1, 2, 4, 8, 16, 32")},
		{name: "cliff", want: []string{cliff, results.ByPaging, results.ByCompute}, spec: embeds("memory_total = \"8GiB\"\nspill_factor = 4", "4, 8, 16, 64")},
		{name: "429", want: []string{queueLimit, results.ByQueueing}, spec: chats("slots = 2\nmax_queue = 4", 24)},
		{name: "client", want: []string{results.ByClient}, held: 4, spec: chats("slots = 64", 24)},
		{name: "interference", want: []string{interference, results.ByCompute},
			spec: embeds("fault {\n  kind = \"interference\"\n  at = \"1.3s\"\n  for = \"0.2s\"\n  factor = 3\n}", "1, 2, 4, 8, 16, 32")},

		{name: "queueing and paging", open: true, want: []string{preallocated}, may: []string{results.ByQueueing, results.ByPaging, cliff}, spec: chats("slots = 5\n"+pool, 64)},
		{name: "host and queueing", open: true, may: []string{results.ByHost, results.ByQueueing}, spec: chats("slots = 2\nbound = \"host\"", 50)},
		{name: "bandwidth and client", open: true, held: 4, may: []string{results.ByBandwidth, results.ByClient}, spec: chats("slots = 64\nbound = \"bandwidth\"", 24)},
		{name: "throttled and queueing", open: true, may: []string{results.ByThrottling, results.ByQueueing}, spec: chats("slots = 2\nthrottle_share = 0.3", 24)},
	}
}

// held lets a client have so many connections: what waits for one was not sent.
func held(n int) func(dialler) dialler {
	if n == 0 {
		return func(d dialler) dialler { return d }
	}
	return func(d dialler) dialler {
		places := make(chan struct{}, n)
		return func(ctx context.Context, network, address string) (net.Conn, error) {
			select {
			case places <- struct{}{}:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			return d(ctx, network, address)
		}
	}
}

// Each kind of server is called by its name, and by no other.
func TestKindsOfServers(t *testing.T) {
	seeds := 10
	if raced {
		seeds = 1
	}
	var mu sync.Mutex
	found := map[string]map[string]int{}
	t.Run("kinds", func(t *testing.T) {
		for _, k := range kinds() {
			counts := map[string]int{}
			found[k.name] = counts
			t.Run(k.name, func(t *testing.T) {
				t.Parallel()
				for seed := range seeds {
					for _, name := range k.check(t, seed) {
						mu.Lock()
						counts[name]++
						mu.Unlock()
					}
				}
			})
		}
	})
	head := fmt.Sprintf("%-24s", "")
	for _, name := range nameAll {
		head += fmt.Sprintf(" %-6.6s", name)
	}
	t.Log(head)
	for _, k := range kinds() {
		row := fmt.Sprintf("%-24s", k.name)
		for _, name := range nameAll {
			row += fmt.Sprintf(" %6d", found[k.name][name])
		}
		t.Log(row)
	}
}

// check runs a server of the kind, and gives what its report calls it.
func (k kind) check(t *testing.T, seed int) []string {
	t.Helper()
	run := virtualRun(t, k.spec, map[string]string{"seed": fmt.Sprint(seed)}, held(k.held))
	rep := results.Analyse(run, run.Plan.Analysis)
	names := named(rep)
	for _, name := range names {
		if !slices.Contains(k.want, name) && !slices.Contains(k.may, name) && (!k.open || name != results.Undetermined) {
			t.Errorf("seed %d: called %s; %+v", seed, name, rep.Ladders[0].Bottleneck)
		}
	}
	for _, name := range k.want {
		if !slices.Contains(names, name) {
			t.Errorf("seed %d: not called %s but %v; %s", seed, name, names, strings.Join(rep.Ladders[0].Findings, " "))
		}
	}
	return names
}
