experiment "e" {}

target {
  api   = "tei-embed"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  tokens        = 128
  output_tokens = 8 # ERROR: Output tokens do not fit the api
  stream        = false # ERROR: The api generates no tokens
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
