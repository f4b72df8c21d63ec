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
  rungs  = [1, 64] # WARNING: Rung beyond the server's limit
  passes = 3
}

server {
  command = ["text-embeddings-router", "--max-client-batch-size", "32", "--max-concurrent-requests=512"]
}
