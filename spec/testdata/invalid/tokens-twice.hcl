experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens = 128
}

ladder "input_tokens" { # ERROR: Length set twice
  rungs  = [128, 256]
  passes = 3
}
