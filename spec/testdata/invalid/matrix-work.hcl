experiment "e" {}

matrix {
  n = range(100)
}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens = 128
}

ladder "batch" { # ERROR: Too many requests in all
  rungs  = [1, 2]
  passes = 100
  rounds = 1000
}
