experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
}

prompt "q" {
  tokens = 128
}

ladder "input_tokens" {
  rungs  = [1, 2, 4]
  passes = 3
  prompt = prompt.p
}

retest {
  ladder = ladder.input_tokens # ERROR: Does not fit the axis
  prompt = prompt.q
}
