# WITH: var x=hunter2
experiment "e" {}

variable "x" {
  type      = string
  sensitive = true
  validation {
    condition     = var.x == ""
    error_message = "${var.x} is too short." # ERROR: Sensitive value where none may be
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
