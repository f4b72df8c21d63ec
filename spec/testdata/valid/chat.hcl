# Concurrency of a chat: rounds of max(40, 10·N) requests, warm-ups of max(3, N).
experiment "chat" {}

variable "key" {
  sensitive = true # unset: unknown for a check, an error for a run
}

target {
  api     = "openai-chat"
  url     = "https://example.test/v1"
  model   = "qwen"
  headers = { Authorization = "Bearer ${var.key}" }
}

gpu {
  source = "none"
}

prompt "p" {
  tokens        = 256
  output_tokens = 128
}

ladder "concurrency" {
  rungs  = doubling(1, 16)
  prompt = prompt.p
}

ladder "length" {
  axis        = "input_tokens"
  rungs       = [64, 128]
  prompt      = prompt.any
  concurrency = 5
}

prompt "any" {
  output_tokens = 16
  stream        = false
}
