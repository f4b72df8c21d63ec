experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "https://h:8443"
  model = "m"
  tls { # ERROR: Missing attribute
    key = "k.pem"
  }
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
