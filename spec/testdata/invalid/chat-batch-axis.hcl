experiment "e" {}

target {
  api   = "openai-chat"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens        = 128
  output_tokens = 16
}

ladder "batch" { # ERROR: The api takes no batch
  rungs  = [1, 2]
  passes = 3
}
