experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens = null
}

ladder "batch" { # ERROR: Prompt without a length
  rungs  = [1, 2, 4]
  passes = 3
}
