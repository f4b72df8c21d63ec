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
  rungs  = doubling(8, 1) # ERROR: Invalid function argument
  passes = 3
}
