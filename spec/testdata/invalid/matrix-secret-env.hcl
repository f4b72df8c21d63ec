# WITH: var token=hunter2
experiment "e" {}

matrix {
  n = [4, 8]
}

variable "token" {
  sensitive = true
}

server {
  command = ["serve", "--max-num-seqs", tostring(matrix.n)]
  env     = { N = tostring(matrix.n), KEY = "${var.token}${matrix.n}" } # ERROR: Sensitive value that differs by cell
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
