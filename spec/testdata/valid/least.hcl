experiment "first" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "nemotron-embed"
}

prompt "p" {
  tokens = 512
}

ladder "batch" {
  rungs = [1, 2, 4, 8, 16, 32]
}
