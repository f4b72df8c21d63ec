experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens = 128
}

ladder "answers" {
  axis   = "output_tokens" # ERROR: Value not yet supported
  rungs  = [1, 2]
  passes = 3
}
