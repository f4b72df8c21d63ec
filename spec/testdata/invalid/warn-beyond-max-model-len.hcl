experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
}

ladder "input_tokens" {
  rungs  = [1024, 4096] # WARNING: Rung beyond the server's limit
  passes = 3
}

server {
  command = ["vllm", "serve", "/m", "--max_model_len=2048", "--max-num-seqs=256"]
}
