# A matrix of two by three, read wherever it may be read.
experiment "matrix" {}

locals {
  counts = [2, 4]
}

variable "token" {
  sensitive = true
}

matrix {
  seqs  = local.counts
  dtype = ["half", "b f/16", true]
}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
  body  = { dtype = matrix.dtype, key = var.token }
}

prompt "p" {
  tokens = 64 * matrix.seqs
}

baseline {
  warmup = matrix.seqs
}

ladder "batch" {
  rungs    = doubling(1, matrix.seqs)
  passes   = 3
  requests = matrix.seqs
}
