# Exact lengths in three kinds of text, along input_tokens.

experiment "tokens" {}
variable "lengths" { default = [4, 16, 128, 200] }
target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8102"
  model = "minilm"
}
gpu { source = "none" }
prompt "english" {
  text_file = "english.txt"
}
prompt "chinese" {
  text_file = "chinese.txt"
}
prompt "code" {
  text_file = "code.txt"
}
baseline {
  idle     = "0s"
  warmup   = 0
  requests = 2
  prompt   = prompt.english
}
ladder "english" {
  axis     = "input_tokens"
  rungs    = var.lengths
  prompt   = prompt.english
  rounds   = 3
  warmup   = 1
  cooldown = "0s"
}
ladder "chinese" {
  axis     = "input_tokens"
  rungs    = var.lengths
  prompt   = prompt.chinese
  rounds   = 3
  warmup   = 1
  cooldown = "0s"
}
ladder "code" {
  axis     = "input_tokens"
  rungs    = var.lengths
  prompt   = prompt.code
  rounds   = 3
  warmup   = 1
  cooldown = "0s"
}
