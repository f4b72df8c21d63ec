# How many chats at once does a language model serve before they only wait?
#
#   rung run --simulate examples/llm-concurrency.hcl                 (tried, on the simulated server)
#   rung run --var url=http://gpu-host:8000 examples/llm-concurrency.hcl
#
# A chat is streamed, so that beside its latency the time to its first token and the
# time for each further one are recorded.

experiment "llm-concurrency" {
  description = "Concurrency of a streamed chat, 512 tokens in and 128 out"
  seed        = 5
}

variable "url" {
  default = "http://127.0.0.1:8000"
}

target {
  api   = "openai-chat"
  url   = var.url
  model = "qwen-7b-instruct"
}

gpu {
  interval = "500ms"
}

# Exactly 128 tokens of every answer, where the server can be told so (ignore_eos):
# answers of different lengths would make two rungs different work.
prompt "chat" {
  tokens        = 512
  output_tokens = 128
  output        = "exact"
  temperature   = 0
  stream        = true # the default; false asks for the answer in one piece
}

# What one chat takes on a quiet server. The knee below is held against its P95.
baseline {
  warmup   = 5
  requests = 20
}

# One round of 40 chats at each rung, in each of three passes. Forty are five for each
# in flight at 8, where the filling and the draining of the round weigh more than at 1:
# `rung check` warns of it. Without requests a rung has ten for each in flight.
ladder "concurrency" {
  rungs    = [1, 2, 4, 8]
  requests = 40
  passes   = 3
  cooldown = "5s"
}

# A chat that takes longer is no goodput.
slo {
  latency = "2s"
}

# The knee is the first rung that gains less than half of what the rung before it gained,
# and whose P95 is over 1.5 times that of a single chat. Either alone is no reason.
analysis {
  use = "interactive"
  knee {
    rule              = "gain_and_p95"
    gain              = 0.5
    p95_over_baseline = 1.5
  }
}

# What a later run of the same file is held against. For its P95 a rung needs 59
# requests, and has 3 times 40.
rollback {
  outcomes      = ["oom", "cuda_error"]
  p95           = "2s"
  timeout_ratio = 0.01
}
