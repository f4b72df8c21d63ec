experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

server {
  command = [
    "serve", "--api-key",
    "hunter2",           # WARNING: Secret recorded in plain
    "--hf_token=hunter2", # WARNING: Secret recorded in plain
    "--token", "--tokenizer", "x", "--api-key", "$KEY",
  ]
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
