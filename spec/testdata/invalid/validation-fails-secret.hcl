# WITH: var x=hunter2
experiment "e" {}

variable "x" {
  type      = string
  sensitive = true
  validation {
    condition     = var.x == "" # ERROR: Invalid value for a variable
    error_message = "It is too short."
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
