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
  rungs  = [1, 2, 4]
  passes = 3
}

simulator {
  prefix_cach     = true # ERROR: Unknown attribute
  tokenize_factor = 1.1  # ERROR: Unknown attribute
  early_stops     = 0.1  # ERROR: Unknown attribute
}
