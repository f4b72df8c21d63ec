experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens = 128
}

ladder "batch" { # ERROR: Too many requests in all
  rungs    = doubling(1, 64)
  passes   = 10
  rounds   = 1000
  requests = 1000
}
