experiment "e" {}

matrix {
  n = [1, 2]
}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens = 128
  stray  = 1 # ERROR: Unknown attribute
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
