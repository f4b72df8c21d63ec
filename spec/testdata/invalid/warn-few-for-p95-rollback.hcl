experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens = 128
}

ladder "batch" { # WARNING: Too few requests for a P95
  rungs  = [1, 2]
  passes = 2
}

rollback {
  p95 = "2s"
}
