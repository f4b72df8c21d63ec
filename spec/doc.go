// Package spec reads an experiment file, which is HCL, and gives the plan of what
// a run will do. It opens no connection and starts no process.
//
// # The stages of Load
//
//  1. The file is read, bounded, and freed of a byte order mark and of CRLF.
//  2. A linear pass over its tokens bounds its size, its nesting and its operators
//     (guard.go), because the parser and the evaluator recurse, and a stack that
//     overflows ends the process. The same pass finds what no excerpt may show.
//  3. It is parsed. After an error of syntax the rest is still looked at, so that
//     all mistakes of a file show at once.
//  4. Variables get their values, then locals, each after those that it needs. Each
//     expression's size is bounded before it is evaluated (cost.go).
//  5. A decoder for each kind of block checks names against a table (schema), reads
//     attributes by typed getters (fields) and fills in defaults.
//  6. What holds between blocks is checked (check.go), the whole expanded to a
//     plan.Plan (expand.go) and hashed (hash.go).
//
// Everything wrong becomes a Diagnostic with a place in the file; nothing is
// reported twice, and what an earlier mistake makes unknowable is passed over.
//
// # Values
//
// A text stands in quotes. A time is a text with a unit ("200ms", "1m30s"), a size
// likewise ("16GiB", "512KiB": powers of 1,024; "16GB": powers of 1,000). Types are
// strict: seed = "7" is an error, and so is tokens = 1.5. Names of blocks begin with
// a letter and have letters, digits, - and _.
//
// In an expression stand var.name and local.name, the operators, templates and
// for-expressions of HCL, and these functions: abs, ceil, floor, max, min; concat,
// contains, keys, length, merge, reverse; join, lower, trimspace, upper;
//
//	doubling(a, b)       a, 2a, 4a and so on, none above b
//	env(name, default)   the environment's value, which is always sensitive
//
// # experiment
//
//	experiment "name" {      # the folder of its runs: letters, digits, - _ .
//	  description = "..."    # in no hash
//	  seed        = 1        # default 1; every random choice comes from it
//	}
//
// # variable and locals
//
//	variable "rounds" {
//	  default     = 4        # a value by itself, or env(); without one it must be given
//	  sensitive   = false    # true: never written anywhere; a default that stands here
//	                         # is masked in the run's copy of the file
//	  description = "..."
//	}
//
//	locals {
//	  sizes = concat(doubling(1, 8), [12])
//	}
//
// A variable's value is the one that --var name=value gives, else the environment's
// RUNG_VAR_name, else its default. From outside it is read as the type of the
// default: a string as it stands, a number, a bool or a list as a literal. A
// variable without a default is a string.
//
// A sensitive value, and all that is made from it, may stand in target.url and as a
// value in target.headers, target.body and server.env, and nowhere else. It goes to the run
// as plan.Secrets, beside the plan. Without a value it is unknown, which is good
// enough for a check; a run needs it.
//
// # target
//
//	target {
//	  api     = "openai-embeddings"   # openai-chat, openai-completions, tei-embed, exec
//	  url     = "http://127.0.0.1:8000"
//	  model   = "name"
//	  headers = { X-Team = "search" }
//	  body    = { input_type = "query" } # merged into each request's body
//	  proxy   = "http://127.0.0.1:3128"  # or socks5; without it none, whatever the environment says
//	  timeout {
//	    connect       = "5s"
//	    request       = "120s"
//	    first_byte    = "60s" # of a streamed answer
//	    between_bytes = "60s" # likewise
//	  }
//	}
//
// The url may be left out where the file has a simulator: then a run uses that. What
// rung sets itself (the input, the model, the lengths, how tokens are drawn) can't
// stand in body. A proxy is recorded, so it has no password.
//
// The api exec measures a program instead, which reads a batch as a line of JSON and
// answers with one. It has a command, a list of the program and its arguments, in
// place of url, headers and proxy, and no simulator beside it:
//
//	target {
//	  api     = "exec"
//	  command = ["python3", "embed.py"]
//	  model   = "name"
//	}
//
// # server
//
//	server {
//	  command = ["vllm", "serve", "/models/m", "--max-model-len", "2048", "--max-num-seqs", "8"]
//	  env     = { HF_HUB_OFFLINE = "1" } # beside rung's own; values may be sensitive
//	  dir     = "/srv"     # its working folder; rung's without it
//	  restart = "ladder"   # before each ladder; or cell, or never
//	  ready {              # before it is first asked anything
//	    path    = "/health"               # a page that answers 200
//	    port    = 8000                    # takes a connection
//	    log     = "startup complete"      # RE2: a line of its output matches
//	    timeout = "10m"
//	  }
//	  stop {
//	    grace = "10s"      # between the request to end and the kill
//	  }
//	}
//
// rung starts it, and it listens at target.url, which must be there. Of ready each part
// may be left out. A command stands in the machine's list of processes: nothing
// sensitive may be in it. A server that runs already can have its log read, and that
// alone:
//
//	server {
//	  log = "/var/log/vllm.log"
//	}
//
// Where the command sets a limit by --max-model-len, --max-num-seqs,
// --max-client-batch-size, --max-batch-size or --max-concurrent-requests, a rung above
// it is warned of; so is a vLLM or a text-embeddings-router without its limits.
//
// # simulator
//
//	simulator {                 # all have defaults: see plan.DefaultSimulator
//	  overhead         = "2ms"  # of each forward
//	  floor            = "10ms" # the least that the tokens of a forward take
//	  per_token        = "4us"
//	  per_output_token = "1ms"
//	  noise            = 0.03   # coefficient of variation
//	  max_batch        = 32
//	  slots            = 4      # chats at once
//	  max_input_tokens = 8192
//	  special_tokens   = 2      # that its tokeniser adds to a text
//	  memory_total     = "24GiB"
//	  memory_idle      = "4GiB"
//	  memory_per_token = "256KiB"
//	}
//
// What follows is off where it is left out; what then holds instead stands in brackets:
//
//	simulator {
//	  decode_slowdown  = 0.05     # by how much each further running sequence slows a step
//	  tokens_per_chunk = 2        # of a stream (1)
//	  answer_tokens    = 200      # the model's own end, where ignore_eos and min_tokens allow it
//	  early_stop       = 0.1      # share of answers that stop at a third, whatever was asked
//	  log_chunks       = true     # its log has when each chunk went out
//	  compile          = "3s"     # of the first request of each shape
//	  prefix_cache     = true     # beginnings of prompts that were seen take no time
//	  cache_block      = 32       # tokens (16)
//	  max_queue        = 64       # requests that may wait; more are refused
//	  queue_status     = 503      # (429)
//	  max_client_batch = 32       # inputs in a request
//	  preallocate      = 0.9      # a pool for tokens: memory stays flat, and what does not fit is paged
//	  fragment_after   = 100      # from so many forwards on, each leaves
//	  fragment_step    = "64MiB"  # so much behind
//	  fragment_tokens  = 4096     # those with so many tokens or more (all)
//	  oom_tokens       = 16384    # a forward above fails, whatever the memory
//	  oom_status       = 424      # as TEI says it (500)
//	  throttle_share   = 0.2      # of clock and speed that is lost
//	  throttle_at      = "30s"    # from then on (0s)
//	  throttle_for     = "20s"    # for so long (to the end)
//	  idle_clock_after = "5s"     # clocks fall in such a silence, and the next request takes
//	  idle_clock_delay = "50ms"   # longer by so much (20ms)
//	  bound            = "host"   # what utilisation and power look like: bandwidth, (compute)
//	  count_offset     = 1        # tokens that usage has too many
//	  tokenise_factor  = 1.2      # of the true count, in what /tokenize answers
//	}
//
// With oom_kills = true it dies when it is out of memory, until it is started again. A
// request gets the first fault all of whose conditions it meets:
//
//	simulator {
//	  fault {
//	    kind      = "status"
//	    share     = 0.1  # of the requests, by their bytes; or every = 10, by their number
//	    from      = 100  # the first that it may fall on; and times = 5, how often at most
//	    at_inputs = 8    # requests with so many inputs or more; and at_tokens
//	    status    = 500  # and body, of this kind
//	  }
//	}
//
// The other kinds are stream_error, truncated, hang, slow_first (later by after), reset,
// reset_mid, retry_after (429 with after), die (once), client_close_idle (after so long),
// no_usage; of embeddings empty_vectors, one_vector, zero_vector and wrong_dims; and
// interference, another load, which has at, for, factor and memory. See plan.FaultKind.
//
// # gpu
//
//	gpu {
//	  source   = "nvml"        # dcgm, nvidia-smi, file, simulator, none
//	  devices  = ["GPU-5f", 1] # UUIDs and indices; all without it
//	  interval = "200ms"
//	}
//
// The source dcgm needs url, the exporter's page. The source file needs path, samples
// recorded elsewhere. The source nvidia-smi may have command, a list of the program and
// its first arguments, as ["ssh", "host", "nvidia-smi"]. None of these stands beside
// another source.
//
// Without source NVML is tried, and where there is none a run goes on without
// samples; a source that the file names must work. A simulated run samples the
// simulated GPU, unless the source is none, or the file itself has a simulator in
// place of a url and yet names another source.
//
// # metrics
//
//	metrics {
//	  path     = "/metrics" # the server's own Prometheus page; or url, a whole address
//	  interval = "1s"
//	}
//
// Without the block the page is not read.
//
// # prompt
//
//	prompt "p512" {
//	  tokens        = 512             # of each input, exactly, as the server counts
//	  text_file     = "corpus/zh.txt" # beside this file or below; without it seeded ids
//	  kind          = "product pages" # what the text is, for the report
//	  reuse         = "unique"        # no two share a first block; same: all are one;
//	                                  # pool: each is one of so many, said by pool = 100
//	  output_tokens = 128             # this and all below: for an API that generates
//	  output        = "exact"         # as long as asked, where the server can; or at_most
//	  temperature   = 0
//	  stream        = true
//	}
//
// A text file is UTF-8, up to 64 MiB, and kept byte by byte. An API that generates
// (openai-chat, openai-completions) needs output_tokens; the others have none.
//
// In place of tokens a prompt may have a mix of up to 100 lengths with their shares,
// which sum to 1. Where one number must do, such as a limit, it counts as its longest:
//
//	prompt "online" {
//	  mix = { "128" = 0.7, "512" = 0.25, "2048" = 0.05 }
//	}
//
// # baseline
//
//	baseline {
//	  idle     = "10s" # nothing is sent
//	  prompt   = prompt.p512
//	  warmup   = 5
//	  requests = 60    # one at a time
//	}
//
// It runs without the block too. Its prompt and its batch are the first ladder's (1
// where that raises the batch), and a length that the prompt leaves out is that of the
// ladder's first rung.
//
// # ladder
//
//	ladder "batch" {           # the axis: batch, concurrency, input_tokens, output_tokens, rate
//	  axis        = "batch"    # only where the label is another name
//	  rungs       = doubling(1, 32)
//	  prompt      = prompt.p512 # may be left out where the file has one prompt
//	  batch       = 1          # what is fixed, except the axis
//	  concurrency = 1
//	  passes      = 1          # up, down, up and so on
//	  rounds      = 20         # at each rung, in each pass
//	  requests    = 1          # in each round; or duration = "60s"
//	  warmup      = 3          # at each rung; N where N in flight are more
//	  cooldown    = "3s"       # between rungs; or settle
//	  reruns      = 3          # of each refused round
//	  stop {
//	    outcomes       = ["oom", "cuda_error", "reset", "refused"]
//	    failure_ratio  = 0.01  # from two failures on
//	    confirm_rounds = 3
//	    min_requests   = 20    # for the two below, which have no default:
//	  }                        # p95_over_baseline = 3 and throughput_drop = 0.2
//	}
//
// With concurrency above 1, and where concurrency is the axis, the defaults are one
// round of max(40, 10·N) requests, N being the requests in flight at the rung. Fewer
// than 2·N are refused, fewer than 5·N warned of, and so are rungs with different
// numbers of requests for each in flight, where one has fewer than ten. With a
// duration in place of requests there is one round by default, and no request is sent
// after it.
//
// A ladder of rate is an open loop: its rungs are requests a second, fractions too,
// sent when they are due. It has neither requests nor concurrency.
//
//	ladder "rate" {
//	  rungs         = [0.5, 1, 2]
//	  rounds        = 1
//	  duration      = "60s"
//	  arrivals      = "poisson" # or constant
//	  max_in_flight = 1000      # what would be more is dropped, and counted
//	  warmup        = 3
//	}
//
// In place of cooldown a ladder may wait until the card is as it was in the baseline:
//
//	settle {
//	  timeout     = "60s" # at most
//	  memory      = 0.01  # used memory, by this share of the total
//	  temperature = 3     # degrees Celsius
//	  clock       = 0.05  # the SM clock, by this share
//	}
//
// The outcomes that can stop a ladder: oom, cuda_error, timeout, rate_limited,
// unavailable, overloaded, reset, refused, too_long, bad_response, server_error,
// client_error. One in outcomes is enough, at once; the ratio counts them all and is
// looked at after each round.
//
// A rung that reaches p95_over_baseline times the baseline's P95, or loses more than
// the share throughput_drop of the best rung's below, ends the ladder as slow, which is
// no failure.
//
// A ladder of input_tokens needs a prompt without tokens, every other one a prompt
// with them, and so it is with output_tokens. Where the server generates there is no
// batch.
//
// Three rules rest on a P95: stop.p95_over_baseline, analysis.limit.p95_ratio and
// rollback.p95. Where the file has one, a rung for which all passes together count
// fewer than 59 requests is warned of.
//
// # retest and confirm
//
//	retest {
//	  ladder   = ladder.batch  # one of batch or concurrency
//	  prompt   = prompt.p512   # may be left out where the file has one prompt
//	  warmup   = 3
//	  requests = 100
//	}
//
// It sends another prompt at the candidate limit of a ladder. A file may have several.
//
//	confirm {
//	  prompt   = prompt.p512   # the first ladder's
//	  warmup   = 3
//	  requests = 200
//	}
//
// It sends requests at all limits at once. Both need a prompt with its own lengths.
//
// # slo
//
//	slo {
//	  latency = "2s"    # at least one of the three
//	  ttft    = "500ms" # to the first token, for an API that generates
//	  tpot    = "50ms"  # for each further token, likewise
//	}
//
// A request that meets all of them counts as goodput.
//
// # analysis
//
//	analysis {                 # the report's rules, declared before the run
//	  use = "interactive"      # or offline
//	  knee {
//	    rule       = "power"   # half_increment, gain_and_p95
//	    elasticity = 0.5
//	    tie        = 0.05
//	    p95_rise   = 1.10
//	    factor     = 0.5
//	    flat       = 0.05
//	    gain       = 0.5
//
//	    p95_over_baseline = 1.5
//	  }
//	  limit {
//	    p95_ratio = 3.0        # on concurrency ladders
//	  }
//	  headroom {
//	    reserve_rungs = 1
//	    safety        = 0.08
//	  }
//	  baseline_check {
//	    interference = 1.5
//	  }
//	  config {
//	    queue_factor   = 3
//	    timeout_factor = 1.5
//	  }
//	}
//
// # config and rollback
//
//	config "vllm" {}           # what the report writes out: vllm, tei, sglang, yaml
//
//	rollback {                 # what a later run is held against; at least one
//	  outcomes      = ["oom"]
//	  p95           = "2s"
//	  timeout_ratio = 0.01     # of the measured requests
//	  cap_share     = 0.9      # of the samples in which the server's batch is at its cap
//	}
//
// None of them has a default.
//
// # Hashes
//
// The spec hash is over the evaluated experiment with its defaults; the workload
// hash is over the part that is asked of a server and how it is judged. What is in
// each stands at specHash and workloadHash.
package spec
