experiment "e" {}

target "t" { # ERROR: Wrong number of labels
  api   = "openai-embeddings"
  url   = "http://h"
  model = "m"
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
