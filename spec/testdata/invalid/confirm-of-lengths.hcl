experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
}

ladder "batch" {
  rungs  = [1]
  passes = 3
  prompt = prompt.q
}

prompt "q" {
  tokens = 8
}

ladder "input_tokens" {
  rungs  = [1, 2, 4]
  passes = 3
  prompt = prompt.p
}

confirm {
  prompt = prompt.p # ERROR: Prompt without a length
}
