# A server that rung starts, measured for its batch and its concurrency, with goals and
# what the report is to write out.
experiment "embed-batch" {
  description = "Where batch stops paying on one card"
  seed        = 20261130
}

variable "url" {
  default = "http://127.0.0.1:8000"
}

variable "token" {
  default   = env("API_TOKEN", "")
  sensitive = true
}

target {
  api     = "openai-embeddings"
  url     = var.url
  model   = "nemotron-embed"
  headers = { Authorization = "Bearer ${var.token}" }
  body    = { input_type = "query" }
  timeout {
    connect = "5s"
    request = "60s"
  }
}

server {
  command = ["vllm", "serve", "/models/nemotron-3-embed", "--max-model-len", "2048", "--max-num-seqs", "8"]
  env     = { VLLM_API_KEY = var.token, CUDA_VISIBLE_DEVICES = "0" }
  restart = "ladder"
  ready {
    timeout = "10m"
  }
}

gpu {
  source   = "nvml"
  devices  = ["GPU-5f"]
  interval = "200ms"
}

metrics {
  path     = "/metrics"
  interval = "1s"
}

prompt "p512" {
  tokens    = 512
  text_file = "corpus.txt"
  reuse     = "unique"
}

prompt "online" {
  mix = { "128" = 0.7, "512" = 0.25, "2048" = 0.05 }
}

baseline {
  idle     = "10s"
  prompt   = prompt.p512
  warmup   = 5
  requests = 60
}

ladder "batch" {
  rungs    = doubling(1, 32)
  prompt   = prompt.p512
  passes   = 5
  rounds   = 4
  requests = 5
  warmup   = 3
  cooldown = "3s"
  stop {
    outcomes      = ["oom", "cuda_error"]
    failure_ratio = 0.01
  }
}

ladder "concurrency" {
  rungs    = doubling(1, 64)
  batch    = 4
  prompt   = prompt.p512
  cooldown = "5s"
}

retest {
  ladder = ladder.batch
  prompt = prompt.online
}

confirm {
  requests = 200
}

slo {
  latency = "2s"
}

analysis {
  use = "interactive"
  knee {
    rule = "power"
  }
  headroom {
    reserve_rungs = 1
  }
}

config "vllm" {}

rollback {
  outcomes      = ["oom"]
  p95           = "2s"
  timeout_ratio = 0.01
}
