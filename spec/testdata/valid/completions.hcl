# Streamed completions: a mix of lengths, longer and longer answers, and requests that
# come at a rate. The baseline has the first ladder's mix and its shortest answer.
experiment "completions" {}

target {
  api   = "openai-completions"
  url   = "http://127.0.0.1:8000"
  model = "m"
  proxy = "socks5://127.0.0.1:1080"
  timeout {
    first_byte    = "30s"
    between_bytes = "5s"
  }
}

server {
  log = "/var/log/server.log"
}

gpu {
  source = "dcgm"
  url    = "http://127.0.0.1:9400/metrics"
}

metrics {
  url      = "http://127.0.0.1:9090/metrics"
  interval = "500ms"
}

prompt "online" {
  mix         = { "2048" = 0.05, "128" = 0.7, "512" = 0.25 }
  kind        = "questions with their contexts"
  reuse       = "pool"
  pool        = 1000
  output      = "at_most"
  temperature = 0.7
}

prompt "same" {
  tokens        = 256
  output_tokens = 64
  reuse         = "same"
}

ladder "output_tokens" {
  rungs  = [16, 64, 256]
  prompt = prompt.online
  passes = 3
  settle {
    timeout     = "30s"
    memory      = 0.02
    temperature = 5
    clock       = 0.1
  }
}

ladder "rate" {
  rungs         = [0.5, 2, 7.5]
  prompt        = prompt.same
  passes        = 3
  duration      = "90s"
  arrivals      = "constant"
  max_in_flight = 200
}

ladder "arrivals" {
  axis   = "rate"
  rungs  = [1]
  prompt = prompt.same
  passes = 3
}

ladder "concurrency" {
  rungs    = [1, 8]
  prompt   = prompt.same
  passes   = 3
  duration = "30s"
  stop {
    min_requests      = 40
    p95_over_baseline = 4
    throughput_drop   = 0.2
  }
}

retest {
  ladder   = ladder.concurrency
  prompt   = prompt.same
  warmup   = 1
  requests = 50
}

confirm {
  prompt   = prompt.same
  warmup   = 2
  requests = 80
}

slo {
  ttft = "500ms"
  tpot = "50ms"
}

rollback {
  timeout_ratio = 0
  cap_share     = 0.9
}

config "yaml" {}

config "sglang" {}
