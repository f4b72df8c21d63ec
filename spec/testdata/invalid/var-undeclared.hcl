# WITH: var urll=x
# ERROR (no file): Value for an undeclared variable
experiment "e" {}

variable "url" {
  default = "http://h"
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
