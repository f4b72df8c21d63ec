# The whole of rung in under a minute, on a built-in simulated server.
#
#   rung run examples/quickstart.hcl
#   rung report results/quickstart
#
# This file has no target.url and a simulator block, so nothing has to be
# installed and no GPU booked. Every figure it gives is simulated, and says so.

experiment "quickstart" {
  description = "Where does a bigger batch stop paying, and where does the card run out of memory?"
  seed        = 7 # every random choice comes from it: the same seed, the same bytes
}

# What is under test. With a url in here the same file measures a real server.
target {
  api   = "openai-embeddings"
  model = "demo-embed"
}

# The modelled card. Reading the weights takes 16 ms however small the batch; from
# 8 × 256 tokens on, arithmetic decides. So by construction the throughput bends
# at a batch of 8, and what a batch takes of the memory (3 MiB a token, beside
# 4 GiB for the model) no longer fits the card at 64.
simulator {
  overhead         = "1ms"
  floor            = "16ms"
  per_token        = "8us"
  noise            = 0.03
  memory_total     = "40GiB"
  memory_idle      = "4GiB"
  memory_per_token = "3MiB"
}

gpu {
  source   = "simulator" # on a real card: nvml
  interval = "100ms"
}

# 256 tokens, exactly, as the server counts them. No two requests share a beginning.
prompt "text" {
  tokens = 256
}

# First silence (what the loaded model holds by itself), then one request at a time.
baseline {
  idle     = "1s"
  warmup   = 3
  requests = 20
}

# Inputs in one request: 1, 2, 4, … 64. Up, down and up again, so that a slow
# minute of the machine can't pass for a knee.
ladder "batch" {
  rungs    = doubling(1, 64)
  passes   = 3
  rounds   = 20
  requests = 1
  warmup   = 2
  cooldown = "300ms"

  # One "out of memory" is enough: that rung is the edge, and the ladder ends there.
  stop {
    outcomes = ["oom", "cuda_error"]
  }
}

# How the report is to read it, declared before the run.
analysis {
  use = "interactive" # configure the last batch that pays
  knee {
    rule = "power" # twice the batch must bring 41 % more throughput
  }
}
