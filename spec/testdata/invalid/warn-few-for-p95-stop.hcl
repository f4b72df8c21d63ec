experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs    = [1, 2]
  passes   = 2
  rounds   = 29
  requests = 1 # WARNING: Too few requests for a P95
  stop {
    p95_over_baseline = 3
  }
}
