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
  rungs  = [prompt.p] # ERROR: Reference not allowed here
  passes = 3
}
