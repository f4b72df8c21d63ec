experiment "e" {}

target {
  api   = "openai-chat"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens        = 128
  output_tokens = 8
}

ladder "concurrency" {
  rungs  = [1, 2, 4]
  passes = 3
}

slo {
  ttft = 2 # ERROR: Wrong type
}
