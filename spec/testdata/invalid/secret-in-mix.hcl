experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  mix = { "128" = env("SHARE", "") } # ERROR: Sensitive value where none may be
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
