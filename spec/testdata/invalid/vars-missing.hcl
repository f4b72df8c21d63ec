# WITH: vars none.vars.hcl
# ERROR (none.vars.hcl:0): Cannot read the file of variables
experiment "e" {}

variable "x" {
  default = 4
}

variable "token" {
  sensitive = true
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
