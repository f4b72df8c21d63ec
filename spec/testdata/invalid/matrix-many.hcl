experiment "e" {}

matrix { # ERROR: Value out of range
  a = range(11)
  b = range(10)
  c = range(10)
}

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
