experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {}

ladder "batch" { # ERROR: Prompt without a length
  rungs  = [1, 2]
  passes = 3
}
