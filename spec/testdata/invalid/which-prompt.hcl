experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens = 128
}

prompt "q" {
  tokens = 1
}

ladder "batch" { # ERROR: Which prompt is unclear
  rungs  = [1, 2]
  passes = 3
}
