experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens = 128
  reuse  = "pool"
  pool = 1000001 # ERROR: Value out of range
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
