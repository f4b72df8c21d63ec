experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens      = 128
  output      = "exact" # ERROR: The api generates no tokens
  temperature = 0 # ERROR: The api generates no tokens
  stream      = true # ERROR: The api generates no tokens
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
