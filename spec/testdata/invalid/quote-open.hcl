experiment "e" {}

target {
  api   = "openai-embeddings # ERROR: Quote not closed
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens = 128
  kind   = 3 # ERROR: Wrong type
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
