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
  passes = 3
  rungs  = [1, 2]
  reruns { # ERROR: Unknown block
  }
}
