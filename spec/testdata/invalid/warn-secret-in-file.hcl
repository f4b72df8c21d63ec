experiment "secret-in-file" {}

variable "token" {
  default   = "hunter2-secret" # WARNING: Sensitive value in the file
  sensitive = true
}

target {
  api     = "openai-embeddings"
  url     = "http://127.0.0.1:8000"
  model   = "m"
  headers = { Authorization = var.token }
}

prompt "p" {
  tokens = 8
}

ladder "batch" {
  rungs  = [1, 2]
  passes = 3
}
