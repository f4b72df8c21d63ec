# WITH: vars type.vars.hcl
# ERROR (type.vars.hcl:1): Unusable value for a variable
# ERROR (type.vars.hcl:2): Unusable value for a variable
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
