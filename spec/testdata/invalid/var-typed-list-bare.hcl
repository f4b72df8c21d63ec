experiment "e" {}

# WITH: var sizes=1,2
# ERROR (no file): Unusable value for a variable
variable "sizes" {
  type = list(number)
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
