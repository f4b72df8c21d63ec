# Embeddings with the figures that the demo has not: ladders of batch, concurrency and length
# beside each other, failures of several names, checks of the limits and every form
# of configuration. Half a minute on the simulated server.
experiment "embedding" {
  seed = 11
}

target {
  api   = "openai-embeddings"
  model = "figures"
  timeout {
    request = "700ms"
  }
}

server {
  command = ["serve", "--gpu-memory-utilization", "0.9"]
  restart = "ladder"
}

simulator {
  overhead         = "1ms"
  floor            = "6ms"
  per_token        = "8us"
  noise            = 0.05
  max_client_batch = 24
  memory_total     = "16GiB"
  memory_idle      = "2GiB"
  memory_per_token = "2MiB"

  fault { # warm-ups and single requests of the baseline
    kind  = "status"
    from  = 7
    times = 5
  }

  fault {
    kind  = "hang"
    from  = 90
    every = 90
    times = 4
  }

  fault { # the longest of the retest, which no ladder reaches
    kind      = "status"
    at_tokens = 2100
    times     = 4
    status    = 503
  }

  fault {
    kind   = "status"
    every  = 130
    status = 503
    body   = "busy"
  }

  fault {
    kind   = "interference"
    at     = "6s"
    for    = "500ms"
    factor = 2
  }
}

gpu {
  source   = "simulator"
  interval = "30ms"
}

metrics {
  interval = "100ms"
}

prompt "text" {
  tokens = 128
}

prompt "open" {
  kind = "seeded ids"
}

prompt "mixed" {
  mix = { "64" = 0.6, "128" = 0.3, "320" = 0.1 }
}

baseline {
  idle     = "500ms"
  prompt   = prompt.text
  warmup   = 2
  requests = 70
}

ladder "batch" {
  rungs    = [1, 2, 4, 8, 16, 32, 64]
  prompt   = prompt.text
  passes   = 5
  rounds   = 4
  requests = 6
  warmup   = 1
  cooldown = "0s"
  stop {
    outcomes       = ["oom"]
    failure_ratio  = 0.1
    confirm_rounds = 2
  }
}

ladder "concurrency" {
  rungs    = [1, 2, 4, 8]
  prompt   = prompt.text
  batch    = 2
  passes   = 3
  rounds   = 2
  requests = 60
  cooldown = "0s"
  stop {
    failure_ratio = 0.1
  }
}

ladder "length" {
  axis     = "input_tokens"
  rungs    = [64, 128, 256, 512]
  prompt   = prompt.open
  passes   = 1
  rounds   = 10
  requests = 4
  settle { # which a growing allocator never does
    timeout = "1s"
    memory  = 0.001
  }
  stop {
    failure_ratio = 0.2
  }
}

retest {
  ladder   = ladder.batch
  prompt   = prompt.mixed
  warmup   = 3
  requests = 30
}

confirm {
  prompt   = prompt.text
  warmup   = 2
  requests = 60
}

slo {
  latency = "12ms"
}

analysis {
  use = "offline"
  knee {
    rule = "half_increment"
  }
}

config "vllm" {}

config "tei" {}

config "sglang" {}

config "yaml" {}

rollback {
  outcomes      = ["oom"]
  p95           = "1s"
  timeout_ratio = 0.01
  cap_share     = 0.5
}
