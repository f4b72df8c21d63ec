# WITH: run
experiment "e" {}

variable "token" { # ERROR: Variable without a value
  sensitive = true
}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
  headers = { Authorization = var.token }
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
