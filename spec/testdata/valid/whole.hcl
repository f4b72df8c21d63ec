# Every block there is but those of other APIs, and of each attribute that can stand
# beside the others a value that is not its default.
experiment "whole" {
  description = "Everything at once"
  seed        = -5
}

variable "url" {
  description = "Where the server is"
  default     = "http://127.0.0.1:8000"
}

variable "token" {
  default   = env("API_TOKEN", "")
  sensitive = true
}

locals {
  small = doubling(1, 8)
  all   = concat(local.small, [12])
  tag   = "n-${length(local.all)}"
}

target {
  api     = "openai-embeddings"
  url     = var.url
  model   = "nemotron-embed"
  headers = { X-Tag = local.tag, Authorization = "Bearer ${var.token}" }
  body    = { input_type = "query", z = [1, 2.5, null, true], secret = { key = var.token } }
  timeout {
    connect = "2s"
    request = "90s"
  }
}

server {
  command = ["serve", "--port", "8000"]
  env     = { TOKEN = var.token, LEVEL = "debug" }
  dir     = "/srv"
  restart = "cell"
  ready {
    path    = "/health"
    port    = 8000
    log     = "listening on .*:8000$"
    timeout = "2m"
  }
  stop {
    grace = "3s"
  }
}

simulator {
  overhead         = "1ms"
  floor            = "5ms"
  per_token        = "2us"
  per_output_token = "2ms"
  noise            = 0
  max_batch        = 64
  slots            = 8
  max_input_tokens = 4096
  special_tokens   = 1
  memory_total     = "80GiB"
  memory_idle      = "1.5GiB"
  memory_per_token = "512KiB"
}

gpu {
  source   = "nvml"
  devices  = ["GPU-5f", 1]
  interval = "500ms"
}

metrics {
  path     = "/server/metrics"
  interval = "2s"
}

prompt "p512" {
  tokens    = 512
  text_file = "corpus.txt"
  kind      = "Chinese product pages"
  reuse     = "pool"
  pool      = 50
}

prompt "open" {}

baseline {
  idle     = "1s"
  prompt   = prompt.p512
  warmup   = 0
  requests = 10
}

ladder "batch" {
  rungs       = local.all
  prompt      = prompt.p512
  concurrency = 2
  passes      = 2
  rounds      = 3
  requests    = 20
  warmup      = 1
  cooldown    = "0s"
  reruns      = 0
  stop {
    outcomes       = ["oom", "timeout"]
    failure_ratio  = 0.5
    confirm_rounds = 0

    min_requests      = 30
    p95_over_baseline = 2.5
    throughput_drop   = 0.3
  }
}

ladder "long" {
  axis   = "input_tokens"
  rungs  = [128, 256]
  prompt = prompt.open
  batch  = 4
  passes = 3
}

retest {
  ladder   = ladder.batch
  prompt   = prompt.p512
  warmup   = 1
  requests = 20
}

retest {
  ladder = ladder.batch
  prompt = prompt.p512
}

confirm {
  prompt   = prompt.p512
  warmup   = 0
  requests = 50
}

slo {
  latency = "1500ms"
}

rollback {
  outcomes      = ["oom", "reset"]
  p95           = "3s"
  timeout_ratio = 0.02
  cap_share     = 0.5
}

config "tei" {}

config "vllm" {}

analysis {
  use = "offline"
  knee {
    rule       = "half_increment"
    elasticity = 0.6
    tie        = 0.1
    p95_rise   = 1.2
    factor     = 0.4
    flat       = 0.02
    gain       = 0.4

    p95_over_baseline = 2
  }
  limit {
    p95_ratio = 2.5
  }
  headroom {
    reserve_rungs = 2
    safety        = 0.1
  }
  baseline_check {
    interference = 2
  }
  config {
    queue_factor   = 4
    timeout_factor = 2
  }
}
