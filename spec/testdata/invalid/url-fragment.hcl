experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://h/#top" # ERROR: Unusable url
  model = "m"
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
