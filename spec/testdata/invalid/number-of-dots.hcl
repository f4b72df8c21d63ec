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
  rungs  = doubling(1..64) # ERROR (syntax)
  passes = 3
}
