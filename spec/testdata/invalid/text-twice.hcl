experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "a" {
  tokens    = 1
  text_file = "no-such.txt" # ERROR: Unusable text file
}

prompt "b" {
  tokens    = 1
  text_file = "no-such.txt" # ERROR: Unusable text file
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
  prompt = prompt.a
}
