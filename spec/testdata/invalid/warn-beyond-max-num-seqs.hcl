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
  rungs  = [1, 2, 4] # WARNING: Rung beyond the server's limit
  passes = 3
}

server {
  command = ["vllm", "serve", "/m", "--max-model-len", "2048", "--max-num-seqs", "2"]
}
