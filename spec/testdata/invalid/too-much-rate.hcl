experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens = 128
}

ladder "rate" { # ERROR: Too many requests in all
  rungs    = [1000, 1000000]
  passes   = 3
  duration = "1h"
}
