# Streamed chats with a pool for their tokens: first tokens and chunks, goodput by three
# objectives, the server's own metrics, a cache of beginnings, answers that stop early, a
# rung that is too slow and a card that slows down.
experiment "chat" {
  seed = 12
}

target {
  api   = "openai-chat"
  model = "figures"
}

simulator {
  overhead         = "1ms"
  floor            = "4ms"
  per_token        = "10us"
  per_output_token = "4ms"
  decode_slowdown  = 0.05
  noise            = 0.05
  slots            = 6
  max_queue        = 6
  early_stop       = 0.1
  prefix_cache     = true
  preallocate      = 0.8
  memory_total     = "8GiB"
  memory_idle      = "2GiB"
  memory_per_token = "8MiB"
  throttle_at      = "30s"
  throttle_share   = 0.3
}

gpu {
  source   = "simulator"
  interval = "50ms"
}

metrics {
  interval = "50ms"
}

prompt "chat" {
  mix           = { "64" = 0.5, "96" = 0.5 }
  output_tokens = 12
  output        = "at_most"
  temperature   = 0.5
  reuse         = "pool"
  pool          = 40
}

prompt "open" {
  tokens = 96
  stream = true
}

baseline {
  idle     = "500ms"
  prompt   = prompt.chat
  warmup   = 2
  requests = 30
}

ladder "concurrency" {
  rungs    = [1, 2, 4, 8, 16]
  prompt   = prompt.chat
  passes   = 3
  rounds   = 1
  requests = 40
  reruns   = 1
  cooldown = "0s"
  stop {
    outcomes          = []
    failure_ratio     = 0.5
    min_requests      = 20
    p95_over_baseline = 6
  }
}

ladder "rate" {
  rungs         = [10, 30, 60, 150]
  prompt        = prompt.chat
  passes        = 2
  duration      = "1s"
  arrivals      = "constant"
  max_in_flight = 12
  cooldown      = "0s"
  stop {
    failure_ratio = 0.9
  }
}

ladder "output" {
  axis     = "output_tokens"
  rungs    = [4, 8, 16]
  prompt   = prompt.open
  passes   = 1
  rounds   = 5
  requests = 10
  reruns   = 0
  cooldown = "0s"
}

confirm {
  prompt   = prompt.chat
  warmup   = 1
  requests = 40
}

slo {
  latency = "120ms"
  ttft    = "40ms"
  tpot    = "6ms"
}

analysis {
  knee {
    rule = "gain_and_p95"
  }
}

config "vllm" {}

config "yaml" {}
