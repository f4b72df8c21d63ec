experiment "e" {}

variable "x" {
  default = 4
  validation {
    condition     = var.x > 1
    error_message = "It must be large."
  }
  validation { # ERROR: Duplicate block
    condition     = var.x > 2
    error_message = "It must be large."
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
