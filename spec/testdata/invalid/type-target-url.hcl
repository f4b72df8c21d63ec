experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = 8000 # ERROR: Wrong type
  model = "m"
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
