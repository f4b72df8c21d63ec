experiment "e" {}

matrix {
  n = [1, 2]
}

variable "token" {
  sensitive = true
}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
  body  = merge({ key = var.token }, { k = matrix.n }) # ERROR: Sensitive value that differs by cell
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
