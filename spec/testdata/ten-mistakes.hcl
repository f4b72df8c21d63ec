experiment "ten mistakes" {
  seed = "7"
}

variable "token" {
  default   = "hunter2-secret"
  sensitive = true
}

variable "rounds" {
  default = 4
}

target {
  api   = "openai-embeding"
  url   = "http://127.0.0.1:8000"
  modle = "nemotron-embed"
}

prompt "p512" {
  tokens = var.token
}

ladder "batch" {
  rungs    = doublin(1, 32)
  prompt   = prompt.p521
  rounds   = var.round
  cooldown = 3
}

metric {}
