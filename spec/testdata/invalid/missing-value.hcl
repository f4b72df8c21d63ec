experiment "e" {}

variable "url" { # ERROR: Variable without a value
}

target {
  api   = "openai-embeddings"
  url   = var.url
  model = "m"
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
