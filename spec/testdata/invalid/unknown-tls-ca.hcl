experiment "e" {}

target {
  api   = "openai-embeddings"
  url   = "https://h:8443"
  model = "m"
  tls {
    ka = "ca.pem" # ERROR: Unknown attribute
  }
}

prompt "p" {
  tokens = 128
}

ladder "batch" {
  rungs  = [1, 2, 4]
  passes = 3
}
