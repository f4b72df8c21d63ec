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
  rungs  = [1, 2, 4, 8]
  passes = 3
  requests = 40 # WARNING: Rungs weigh their start differently
}
