# Exact lengths in three kinds of text, of an API that generates.

experiment "tokens-gen" {}
variable "api" { default = "openai-completions" }
variable "url" { default = "http://127.0.0.1:8101" }
variable "model" { default = "smollm2" }
variable "lengths" { default = [4, 16, 128, 200] }
target {
  api   = var.api
  url   = var.url
  model = var.model
}
gpu { source = "none" }
prompt "english" {
  text_file     = "english.txt"
  output_tokens = 4
}
prompt "chinese" {
  text_file     = "chinese.txt"
  output_tokens = 4
}
prompt "code" {
  text_file     = "code.txt"
  output_tokens = 4
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
