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
// In an expression stand var.name, local.name and, where it is allowed, matrix.name,
// the operators, templates and for-expressions of HCL, and these functions. None
// sees a clock, a random number or a file, and what each makes is bounded.
//
// Series of numbers, for rungs:
//
//	doubling(a, b)           a, 2a, 4a and so on, none above b
//	geometric(a, b, n)       n points from a to b in equal ratios, rounded to whole
//	                         numbers, each once: geometric(1, 64, 5) is [1, 3, 8, 23, 64]
//	steps(from, to, step)    from, from + step and so on, none above to:
//	                         steps(0, 100, 30) is [0, 30, 60, 90]
//	range(limit)             0, 1, 2 and so on below the limit; also
//	                         range(start, limit) and range(start, limit, step)
//
// Numbers:
//
//	abs(x)  ceil(x)  floor(x)  signum(x)
//	max(a, b...)  min(a, b...)
//	pow(x, y)                x to the power of y
//	sum(list)
//	parseint(text, base)     parseint("ff", 16) is 255
//
// Lists and objects:
//
//	coalesce(a, b...)        the first that is not null
//	compact(list)            without empty strings
//	concat(a, b...)          one list after the other
//	contains(list, x)        whether x is in it
//	distinct(list)           each element once
//	flatten(list)            the elements of lists within it, as one list
//	keys(object)  values(object)
//	length(x)                of a list or an object; of a string its characters
//	lookup(object, key, x)   the value under the key, or x
//	merge(a, b...)           one object; later ones win
//	reverse(list)
//	setproduct(a, b...)      all combinations of the elements of lists
//	slice(list, i, j)        the elements from i up to but without j
//	sort(list)               of strings
//	zipmap(keys, values)     an object of two lists
//
// Texts:
//
//	format(format, x...)     as printf: %s, %d, %.2f, %q, %v; widths below 100
//	join(text, list)  split(text, string)
//	jsonencode(x)
//	lower(text)  upper(text)  trimspace(text)
//	replace(text, old, new)
//	substr(text, from, n)
//	tonumber(x)  tostring(x)
//	env(name, default)       the environment's value, which is always sensitive
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
//	  type        = number   # string, number, bool, list(number), map(string) and so on
//	  default     = 4        # a value by itself, or env(); without one it must be given
//	  sensitive   = false    # true: never written anywhere; a default that stands here
//	                         # is masked in the run's copy of the file
//	  description = "..."
//	  validation {
//	    condition     = var.rounds > 0 # of this variable alone
//	    error_message = "There must be a round."
//	  }
//	}
//
//	locals {
//	  sizes = concat(doubling(1, 8), [12])
//	}
//
// A variable's value is that of the last of these which gives one: its default; the
// environment's RUNG_VAR_name; the files of --var-file, in order; --var name=value, in
// order.
//
// The default must be of the type as it stands. What comes from outside is converted
// to it: on the command line and in the environment a string stands as it is,
// anything else as a literal, as --var 'sizes=[1, 2]'. A variable without a type is of
// that of its default, and a string without either.
//
// A file of variables has lines of name = value, each value a literal. One whose name
// ends in .json is a JSON object. It may name declared variables alone.
//
// A sensitive value, and all that is made from it, may stand in target.url and as a
// value in target.headers and target.body, and nowhere else. It goes to the run
// as plan.Secrets, beside the plan. Without a value it is unknown, which is good
// enough for a check; a run needs it.
//
// # matrix
//
//	matrix {
//	  max_num_seqs = [4, 8]           # strings, numbers or bools
//	  dtype        = ["half", "float"]
//	}
//
// Each combination of the lists is a cell, which is a run of its own: in the order of
// the file, the last attribute changing first. A list has up to 100 values, a matrix
// up to 1,000 cells. A cell is named by its values, "max_num_seqs=4,dtype=half", signs
// that stand in no file's name replaced by -; rung run --cell takes its name or its
// number, from 1 on.
//
// matrix.name stands for the cell's value in the blocks server, prompt, baseline,
// ladder, retest and confirm, and in target.body; they are read anew for each cell.
// What is wrong in all cells is said once, what differs by cell for the first. A
// sensitive value can't be made from the matrix, for the secrets are one for all
// cells.
//
// # target
//
//	target {
//	  api     = "openai-embeddings"   # or openai-chat
//	  url     = "http://127.0.0.1:8000"
//	  model   = "name"
//	  headers = { X-Team = "search" }
//	  body    = { input_type = "query" } # merged into each request's body
//	  timeout {
//	    connect = "5s"
//	    request = "120s"
//	  }
//	}
//
// The url may be left out where the file has a simulator: then a run uses that. What
// rung sets itself (the input, the model, the lengths) can't stand in body.
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
// # gpu
//
//	gpu {
//	  source   = "nvml"        # or simulator, none
//	  devices  = ["GPU-5f", 1] # UUIDs and indices; all without it
//	  interval = "200ms"
//	}
//
// Without source NVML is tried, and where there is none a run goes on without
// samples; a source that the file names must work. A simulated run samples the
// simulated GPU, unless the source is none, or the file itself has a simulator in
// place of a url and yet names nvml.
//
// # prompt
//
//	prompt "p512" {
//	  tokens        = 512             # of each input, exactly, as the server counts
//	  text_file     = "corpus/zh.txt" # beside this file or below; without it seeded ids
//	  output_tokens = 128             # for a chat, which needs it; for nothing else
//	}
//
// A text file is UTF-8, up to 64 MiB, and kept byte by byte.
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
// where that raises the batch), its length where the prompt has none is that
// ladder's first rung.
//
// # ladder
//
//	ladder "batch" {           # the axis: batch, concurrency or input_tokens
//	  axis        = "batch"    # only where the label is another name
//	  rungs       = doubling(1, 32)
//	  prompt      = prompt.p512 # may be left out where the file has one prompt
//	  batch       = 1          # what is fixed, except the axis
//	  concurrency = 1
//	  passes      = 1          # up, down, up and so on
//	  rounds      = 20         # at each rung, in each pass
//	  requests    = 1          # in each round
//	  warmup      = 3          # at each rung; N where N in flight are more
//	  cooldown    = "3s"       # between rungs
//	  reruns      = 3          # of each refused round
//	  stop {
//	    outcomes       = ["oom", "cuda_error", "reset", "refused"]
//	    failure_ratio  = 0.01  # from two failures on
//	    confirm_rounds = 3
//	  }
//	}
//
// With concurrency above 1, and where concurrency is the axis, the defaults are one
// round of max(40, 10·N) requests, N being the requests in flight at the rung. Fewer
// than 2·N are refused, fewer than 5·N warned of, and so are rungs with different
// numbers of requests for each in flight, where one has fewer than ten.
//
// The outcomes that can stop a ladder: oom, cuda_error, timeout, rate_limited,
// unavailable, overloaded, reset, refused, too_long, bad_response, server_error,
// client_error. One in outcomes is enough, at once; the ratio counts them all and is
// looked at after each round.
//
// A ladder of input_tokens needs a prompt without tokens, every other one a prompt
// with them. A chat has no batch.
//
// # analysis
//
//	analysis {                 # the report's rules, declared before the run
//	  use = "interactive"      # or offline
//	  knee {
//	    rule       = "power"   # or half_increment
//	    elasticity = 0.5
//	    tie        = 0.05
//	    p95_rise   = 1.10
//	    factor     = 0.5
//	    flat       = 0.05
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
// # Hashes
//
// The spec hash is over the evaluated experiment with its defaults; the workload
// hash is over the part that is asked of a server and how it is judged. What is in
// each stands at specHash and workloadHash.
package spec
