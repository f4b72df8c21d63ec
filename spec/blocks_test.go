package spec

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"rung/spec/plan"
)

// change is one edit of a valid file, and whether it changes what is asked of a
// server or how that is judged.
type change struct {
	from, to string
	workload bool
}

// TestHashSeesEachAttribute changes one attribute after another of a file that has
// them all: the spec's hash always changes, the workload's only by the work.
func TestHashSeesEachAttribute(t *testing.T) {
	const work, not = true, false
	files := map[string]map[string]change{
		"whole": {
			"server.command":           {`"8000"]`, `"8001"]`, not},
			"server.env":               {`LEVEL = "debug"`, `LEVEL = "info"`, not},
			"server.env's secrets":     {`TOKEN = var.token`, `KEY = var.token`, not},
			"server.dir":               {`"/srv"`, `"/srv2"`, not},
			"server.restart":           {`restart = "cell"`, `restart = "never"`, not},
			"server.ready.path":        {`"/health"`, `"/ready"`, not},
			"server.ready.port":        {`port    = 8000`, `port    = 8001`, not},
			"server.ready.log":         {`"listening on`, `"Listening on`, not},
			"server.ready.timeout":     {`timeout = "2m"`, `timeout = "3m"`, not},
			"server.stop.grace":        {`"3s"`, `"4s"`, not},
			"metrics.path":             {`"/server/metrics"`, `"/metrics"`, not},
			"metrics.interval":         {`interval = "2s"`, `interval = "3s"`, not},
			"no metrics":               {"metrics {\n  path     = \"/server/metrics\"\n  interval = \"2s\"\n}", "", not},
			"rollback.outcomes":        {`["oom", "reset"]`, `["oom"]`, not},
			"rollback.p95":             {`p95           = "3s"`, ``, not},
			"rollback.timeout_ratio":   {`timeout_ratio = 0.02`, `timeout_ratio = 0`, not},
			"rollback.cap_share":       {`cap_share     = 0.5`, `cap_share     = 0.6`, not},
			"config":                   {`config "tei" {}`, `config "yaml" {}`, not},
			"the order of configs":     {"config \"tei\" {}\n\nconfig \"vllm\" {}", "config \"vllm\" {}\n\nconfig \"tei\" {}", not},
			"prompt.kind":              {`Chinese product`, `Greek product`, work},
			"prompt.pool":              {`= 50`, `= 51`, work},
			"stop.min_requests":        {`min_requests      = 30`, `min_requests      = 31`, work},
			"stop.p95_over_baseline":   {`p95_over_baseline = 2.5`, ``, work},
			"stop.throughput_drop":     {`throughput_drop   = 0.3`, `throughput_drop   = 0.4`, work},
			"retest.warmup":            {`warmup   = 1` + "\n" + `  requests = 20`, `warmup   = 2` + "\n" + `  requests = 20`, work},
			"retest.requests":          {`= 20` + "\n}\n\nretest", `= 21` + "\n}\n\nretest", work},
			"confirm.warmup":           {"warmup   = 0\n  requests = 50", "warmup   = 1\n  requests = 50", work},
			"confirm.requests":         {"requests = 50", "requests = 51", work},
			"slo.latency":              {`"1500ms"`, `"2s"`, work},
			"knee.gain":                {`gain       = 0.4`, `gain       = 0.3`, work},
			"knee.rule":                {`"half_increment"`, `"gain_and_p95"`, work},
			"knee.p95_over_baseline":   {`p95_over_baseline = 2` + "\n", `p95_over_baseline = 3` + "\n", work},
			"the api":                  {`"openai-embeddings"`, `"tei-embed"`, not},
			"target.timeout.connect":   {`connect = "2s"`, `first_byte = "2s"`, not},
			"a duration for the count": {`requests    = 20`, `duration    = "20s"`, work},
		},
		"completions": {
			"target.proxy":          {`"socks5://127`, `"http://127`, not},
			"timeout.first_byte":    {`"30s"` + "\n    between", `"31s"` + "\n    between", not},
			"timeout.between_bytes": {`between_bytes = "5s"`, `between_bytes = "6s"`, not},
			"server.log":            {`"/var/log/server.log"`, `"/var/log/other.log"`, not},
			"gpu.url":               {`:9400/metrics`, `:9401/metrics`, not},
			"gpu.source":            {"source = \"dcgm\"\n  url    = \"http://127.0.0.1:9400/metrics\"", `source = "nvidia-smi"`, not},
			"metrics.url":           {`:9090/metrics`, `:9091/metrics`, not},
			"prompt.mix":            {`"128" = 0.7, "512" = 0.25`, `"128" = 0.25, "512" = 0.7`, work},
			"prompt.reuse":          {`reuse         = "same"`, ``, work},
			"prompt.output":         {`"at_most"`, `"exact"`, work},
			"prompt.temperature":    {`= 0.7` + "\n}", `= 0.8` + "\n}", work},
			"prompt.stream":         {`temperature = 0.7`, "temperature = 0.7\n  stream = false", work},
			"a rung of output":      {`[16, 64, 256]`, `[16, 64, 257]`, work},
			"a rung of rate":        {`[0.5, 2, 7.5]`, `[0.5, 2, 7.25]`, work},
			"settle.timeout":        {`timeout     = "30s"`, `timeout     = "31s"`, work},
			"settle.memory":         {`memory      = 0.02`, `memory      = 0.03`, work},
			"settle.temperature":    {`temperature = 5`, `temperature = 6`, work},
			"settle.clock":          {`clock       = 0.1`, `clock       = 0.2`, work},
			"ladder.duration":       {`"90s"`, `"91s"`, work},
			"ladder.arrivals":       {`"constant"`, `"poisson"`, work},
			"ladder.max_in_flight":  {`= 200`, `= 201`, work},
			"slo.ttft":              {`"500ms"` + "\n  tpot", `"600ms"` + "\n  tpot", work},
			"slo.tpot":              {`tpot = "50ms"`, `tpot = "60ms"`, work},
		},
		"program": {
			"target.command": {`"cuda:0"`, `"cuda:1"`, not},
			"gpu.path":       {`samples/gpu.parquet`, `samples/other.parquet`, not},
			"gpu.command":    {"source = \"file\"\n  path   = \"samples/gpu.parquet\"", "source  = \"nvidia-smi\"\n  command = [\"ssh\", \"h\", \"nvidia-smi\"]", not},
			"no confirm":     {"confirm {}", "", work},
		},
	}
	for name, changes := range files {
		checkChanges(t, read(t, filepath.Join("testdata", "valid", name+".hcl")), changes)
	}
}

func checkChanges(t *testing.T, source string, changes map[string]change) {
	t.Helper()
	base := mustLoad(t, source, Options{}).Plan
	seen := map[string]string{base.SpecHash: "no change"}
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		c := changes[name]
		if !strings.Contains(source, c.from) {
			t.Errorf("%s: the file has no %q", name, c.from)
			continue
		}
		got := mustLoad(t, strings.Replace(source, c.from, c.to, 1), Options{}).Plan
		if other, ok := seen[got.SpecHash]; ok {
			t.Errorf("%s hashes like %s", name, other)
		}
		seen[got.SpecHash] = name
		if changed := got.WorkloadHash != base.WorkloadHash; changed != c.workload {
			t.Errorf("%s: the workload's hash changes: %v", name, changed)
		}
	}
}

// A secret in a started server's environment goes to the run beside the plan, and its
// value is in nothing that is written.
func TestSecretsReachTheServer(t *testing.T) {
	source := "variable \"token\" {\n sensitive = true\n}\n" + small("ladder \"batch\" {\n rungs = [1]\n}\n") +
		"server {\n command = [\"serve\"]\n env = { B = \"Bearer ${var.token}\", A = \"open\" }\n}\n"
	res := mustLoad(t, source, Options{Vars: map[string]string{"token": secret}, ForRun: true})
	if got := res.Secrets.Env["B"].Reveal(); got != "Bearer "+secret {
		t.Errorf("B: %q", got)
	}
	want := []plan.Header{{Name: "A", Value: "open"}, {Name: "B", Sensitive: true}}
	if diff := cmp.Diff(want, res.Plan.Cells[0].Server.Env); diff != "" || len(res.Secrets.Env) != 1 {
		t.Errorf("%d secrets, and the plan %s", len(res.Secrets.Env), diff)
	}
	if out := everything(t, res, nil); strings.Contains(out, "hunter2") {
		t.Error("the value is written")
	}
	unset := mustLoad(t, source, Options{}).Plan
	if unset.SpecHash != res.Plan.SpecHash {
		t.Error("the value is in the hash")
	}
	for name, line := range map[string]string{
		"command": `command = ["serve", var.token]`, "proxy": `proxy = var.token`, "dir": `dir = var.token`, "env": `env = var.token`,
	} {
		bad := strings.Replace(source, `command = ["serve"]`, "command = [\"serve\"]\n "+line, 1)
		switch name {
		case "command":
			bad = strings.Replace(source, `command = ["serve"]`, line, 1)
		case "env":
			bad = strings.Replace(source, "env = {", line+"\n nev = {", 1)
		case "proxy":
			bad = strings.Replace(source, `model = "m"`, "model = \"m\"\n "+line, 1)
		}
		res, diags := load(t, bad, Options{Vars: map[string]string{"token": secret}})
		if !diags.HasErrors() {
			t.Errorf("%s may be sensitive", name)
		}
		if out := everything(t, res, diags); strings.Contains(out, "hunter2") {
			t.Errorf("%s: the value is shown", name)
		}
	}
}

// chat makes a small valid file for an API that generates.
func chat(prompt, ladder string) string {
	s := strings.Replace(small(ladder), "openai-embeddings", "openai-chat", 1)
	return strings.Replace(s, "tokens = 8", prompt, 1)
}

func TestRungsOfRateAndDuration(t *testing.T) {
	cases := map[string]struct {
		source string
		want   plan.Rung
	}{
		"rate": {small(`ladder "rate" { rungs = [0.25] }`), plan.Rung{Value: 0.25, Warmup: 3, Rounds: 1, Duration: plan.Duration(time.Minute),
			Shape: plan.Shape{Batch: 1, InputTokens: 8, InFlight: 1000}}},
		"rate of batches": {small("ladder \"rate\" {\n rungs = [2]\n batch = 4\n rounds = 2\n warmup = 9\n max_in_flight = 50\n duration = \"5s\"\n}"),
			plan.Rung{Value: 2, Warmup: 9, Rounds: 2, Duration: plan.Duration(5 * time.Second), Shape: plan.Shape{Batch: 4, InputTokens: 8, InFlight: 50}}},
		"batch for a time": {small("ladder \"batch\" {\n rungs = [2]\n duration = \"5s\"\n}"),
			plan.Rung{Value: 2, Warmup: 3, Rounds: 1, Duration: plan.Duration(5 * time.Second), Shape: plan.Shape{Batch: 2, InputTokens: 8, InFlight: 1}}},
		"concurrency for a time": {small("ladder \"concurrency\" {\n rungs = [5]\n duration = \"5s\"\n rounds = 3\n}"),
			plan.Rung{Value: 5, Warmup: 5, Rounds: 3, Duration: plan.Duration(5 * time.Second), Shape: plan.Shape{Batch: 1, InputTokens: 8, InFlight: 5}}},
		"output": {chat("tokens = 8", `ladder "output_tokens" { rungs = [32] }`),
			plan.Rung{Value: 32, Warmup: 3, Rounds: 20, Requests: 1, Shape: plan.Shape{Batch: 1, InputTokens: 8, OutputTokens: 32, InFlight: 1}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, mustLoad(t, c.source, Options{}).Plan.Cells[0].Ladders[0].Rungs[0]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBaselineTakesWhatTheFirstLadderSets(t *testing.T) {
	mix := `mix = { "64" = 0.5, "16" = 0.5 }`
	cases := map[string]struct {
		source string
		want   plan.Shape
	}{
		"a mix":           {strings.Replace(small(`ladder "batch" { rungs = [4] }`), "tokens = 8", mix, 1), plan.Shape{Batch: 1, InputTokens: 64, InFlight: 1}},
		"answers":         {chat("tokens = 8", `ladder "output_tokens" { rungs = [32, 64] }`), plan.Shape{Batch: 1, InputTokens: 8, OutputTokens: 32, InFlight: 1}},
		"answers of mix":  {chat(mix, `ladder "output_tokens" { rungs = [32, 64] }`), plan.Shape{Batch: 1, InputTokens: 64, OutputTokens: 32, InFlight: 1}},
		"lengths of chat": {chat("output_tokens = 7", `ladder "input_tokens" { rungs = [32, 64] }`), plan.Shape{Batch: 1, InputTokens: 32, OutputTokens: 7, InFlight: 1}},
		"rate":            {small("ladder \"rate\" {\n rungs = [4]\n batch = 3\n}"), plan.Shape{Batch: 3, InputTokens: 8, InFlight: 1}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := mustLoad(t, c.source, Options{}).Plan.Cells[0].Baseline
			if diff := cmp.Diff(c.want, b.Shape); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(c.source, "mix") && !slices.Equal(b.Prompt.Mix, []plan.Share{{Tokens: 16, Share: 0.5}, {Tokens: 64, Share: 0.5}}) {
				t.Errorf("the mix: %v", b.Prompt.Mix)
			}
		})
	}
}

// A source of samples other than the simulated card's gives way to it by --simulate,
// with all that belongs to it, and the hash stays.
func TestSimulatedGPUInPlaceOfAnother(t *testing.T) {
	source := read(t, "testdata/valid/completions.hcl")
	want, got := mustLoad(t, source, Options{}).Plan, mustLoad(t, source, Options{Simulate: true}).Plan
	if diff := cmp.Diff(plan.GPU{Source: "simulator", Declared: true, Interval: want.GPU.Interval}, got.GPU); diff != "" || got.SpecHash != want.SpecHash {
		t.Errorf("another hash, or GPU: %s", diff)
	}
}

func TestLimitsThatShouldBeSet(t *testing.T) {
	for _, none := range [][]string{nil, {"vllm"}, {"vllm", "bench"}, {"serve"}, {"vllm", "serve", "--config", "x.yaml"}} {
		if got := flagsOf(&plan.Server{Command: none}); got != nil {
			t.Errorf("%v: %v", none, got)
		}
	}
}
