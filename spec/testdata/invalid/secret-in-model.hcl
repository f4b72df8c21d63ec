experiment "e" {}

variable "token" {
  default   = "hunter2-secret" # WARNING: Sensitive value in the file
  sensitive = true
}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = var.token # ERROR: Sensitive value where none may be
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
