experiment "e" {}

target {
  api   = "openai-chat"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" { # ERROR: Output tokens do not fit the api
  tokens = 128
}

ladder "concurrency" {
  rungs  = [1, 2, 4]
  passes = 3
}
