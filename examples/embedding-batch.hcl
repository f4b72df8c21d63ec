# One embedding service on one card: which batch, and how many requests at once?
#
#   rung run --simulate examples/embedding-batch.hcl            (tried, on the modelled card)
#   rung run --var url=http://gpu-host:8000 examples/embedding-batch.hcl   (measured)
#
# What the report should answer, in the words of this file:
#   knee       the first batch that no longer pays
#   edge       the first rung that fails, if any does
#   headroom   the memory that stays free at the limit

experiment "embedding-batch" {
  description = "Batch and concurrency of an embedding service on one card"
  seed        = 20261130
}

variable "url" {
  default = "http://127.0.0.1:8000"
}

# The key never reaches a file. Set RUNG_VAR_token, or API_TOKEN, or neither.
variable "token" {
  default   = env("API_TOKEN", "")
  sensitive = true
}

target {
  api     = "openai-embeddings"
  url     = var.url
  model   = "nemotron-embed"
  headers = { Authorization = "Bearer ${var.token}" }
}

# Used with --simulate alone. Up to 8 × 512 tokens a forward takes as long as
# reading the weights; beyond, as long as the arithmetic: a plateau from batch 8
# on. Nothing fails up to 32, so there is no edge to find here.
simulator {
  overhead         = "500us"
  floor            = "20ms"
  per_token        = "4900ns"
  noise            = 0.02
  max_batch        = 32
  memory_total     = "24GiB"
  memory_idle      = "5GiB"
  memory_per_token = "256KiB"
}

prompt "p512" {
  tokens = 512
}

# What one request at a time costs on a quiet card.
baseline {
  idle     = "5s"
  warmup   = 5
  requests = 60
}

# Batch by batch, twenty rounds at each, walked up, down and up.
ladder "batch" {
  rungs    = doubling(1, 32)
  prompt   = prompt.p512
  passes   = 3
  rounds   = 20
  requests = 1
  cooldown = "1s"
}

# Then requests at once, at a fixed batch of 4. Each rung has ten requests for
# every one in flight.
ladder "concurrency" {
  rungs    = doubling(1, 16)
  batch    = 4
  prompt   = prompt.p512
  passes   = 3
  cooldown = "1s"
}

analysis {
  use = "interactive"

  # The rule that people apply to embedding services by hand: walking up, the knee
  # is the first rung that gains less than half of what the rung before it gained.
  knee {
    rule   = "half_increment"
    factor = 0.5
  }

  # Keep the memory of one rung more, and 8 % of the card, free.
  headroom {
    reserve_rungs = 1
    safety        = 0.08
  }
}
