experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "http://h:8000"
  model = "m"
  tls { # ERROR: Out of place
    ca = "ca.pem"
  }
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
