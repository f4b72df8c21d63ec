experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model_name = "m" # ERROR: Unknown attribute
  temperature = 0 # ERROR: Unknown attribute
}

prompt "p" {
  input_tokens = 512 # ERROR: Unknown attribute
  max_tokens   = 5   # ERROR: Unknown attribute
}

ladder "batch" {
  rungs        = [1, 2, 4]
  repeats      = 3 # ERROR: Unknown attribute
  num_requests = 3 # ERROR: Unknown attribute
  passes       = 3
}
