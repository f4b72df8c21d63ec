experiment "e" {}

# WITH: simulate

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
}

ladder "input_tokens" {
  rungs  = doubling(512, 16384) # WARNING: Length beyond the simulator's
  passes = 3
}
