experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens = 128
}

ladder "rate" { # WARNING: Too few requests for a P95
  rungs  = [0.1, 1]
  passes = 3
}

rollback {
  p95 = "2s"
}
