experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

server {
  command = ["serve", "--port", "8001"] # WARNING: Server at another port
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
