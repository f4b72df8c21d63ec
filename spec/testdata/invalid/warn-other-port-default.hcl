experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "https://host"
  model = "m"
}

server {
  command = ["serve", "--port=8443"] # WARNING: Server at another port
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
