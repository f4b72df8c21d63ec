experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens = 128
}

ladder "concurrency" { # WARNING: Too few requests for a P95
  rungs  = [1]
  passes = 1 # WARNING: One pass
}

analysis {
  limit {
    p95_ratio = 3
  }
}
