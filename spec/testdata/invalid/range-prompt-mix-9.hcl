experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://127.0.0.1:8000"
  model = "m"
}

prompt "p" {
  mix = { "128" = 2 } # ERROR: Unusable mix
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
