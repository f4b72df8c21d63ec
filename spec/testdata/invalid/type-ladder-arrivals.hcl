experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens = 128
}

ladder "rate" {
  rungs         = [0.5, 1]
  passes        = 3
  arrivals = 1 # ERROR: Wrong type
}
