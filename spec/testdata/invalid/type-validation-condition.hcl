experiment "e" {}

variable "x" {
  default = 4
  validation {
    condition     = var.x # ERROR: Wrong type
    error_message = "It must be small."
  }
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
