experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

server {
  command = [
    "vllm", "serve, # ERROR: Quote not closed
    "--port", "8000",
  ]
}

prompt "p" {
  tokens = 1..2 # ERROR: Invalid number literal
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
