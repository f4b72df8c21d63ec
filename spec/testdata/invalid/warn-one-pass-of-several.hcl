experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens = 128
}

prompt "q" {}

ladder "input_tokens" { # WARNING: One pass
  rungs  = [1, 2, 4]
  prompt = prompt.q
}

ladder "batch" {
  rungs  = [1, 2, 4]
  prompt = prompt.p
  passes = 1
}

ladder "two" {
  axis   = "batch"
  rungs  = [1, 2, 4]
  prompt = prompt.p
  passes = 2
}

ladder "rate" {
  rungs  = [1, 2, 4]
  prompt = prompt.p
}
