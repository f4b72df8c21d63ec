experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens = 128
}

ladder "concurrency" {
  rungs  = [1, 2, 4]
  passes = 3
  concurrency = 4 # ERROR: The axis is fixed as well
}
