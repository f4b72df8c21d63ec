experiment "e" {}

variable "token" {
  default   = "hunter2-secret" # WARNING: Sensitive value in the file
  sensitive = true
}

target {
  api   = "openai-embeddings"
  url   = var.token # ERROR: Unusable url
  model = "m"
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
