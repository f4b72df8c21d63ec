experiment "e" {}

# WITH: vars twice.vars.hcl
# ERROR (twice.vars.hcl:2): Set twice
# ERROR (twice.vars.hcl:4): Set twice
variable "n" {
  default = 1
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
