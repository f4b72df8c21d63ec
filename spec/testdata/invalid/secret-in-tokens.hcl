experiment "e" {}

variable "token" {
  default   = "hunter2-secret" # WARNING: Sensitive value in the file
  sensitive = true
}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens = var.token # ERROR: Sensitive value where none may be
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
