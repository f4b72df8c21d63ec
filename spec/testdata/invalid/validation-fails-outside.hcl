# WITH: env RUNG_VAR_x=40
experiment "e" {}

variable "x" {
  default = 4
  validation {
    condition     = var.x < 5 # ERROR: Invalid value for a variable
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
