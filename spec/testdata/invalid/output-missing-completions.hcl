experiment "e" {}

target {
  api   = "openai-completions"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens = 128
}

ladder "concurrency" { # ERROR: Prompt without a length
  rungs  = [1, 2, 4]
  passes = 3
}
