experiment "e" {}

locals {
  a = range(1000)
  b = [for x in local.a : [for y in local.a : [for z in local.a : 1]]] # ERROR: Expression too large
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
