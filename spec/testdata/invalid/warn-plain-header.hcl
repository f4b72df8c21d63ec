experiment "e" {}

variable "who" {
  default = "hunter2"
}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
  headers = {
    X-Api-KEY     = "hunter2" # WARNING: Secret recorded in plain
    cookie        = var.who   # WARNING: Secret recorded in plain
    X-Session-Key = ""
    X-Team        = "search"
  }
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
